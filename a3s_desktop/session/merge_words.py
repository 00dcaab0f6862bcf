"""What is said of a merge, before and after, and of each disagreement."""

from __future__ import annotations

from collections.abc import Callable

from a3s_desktop.i18n import decimal, number, percent, tr, trn
from a3s_desktop.session.agreement import Agreement
from a3s_desktop.session.disagreements import About, Disagreement
from a3s_desktop.session.merging import MergePlan

_FEW = 10  # pairs, below which a measure of agreement would mislead


def plan_texts(plan: MergePlan) -> list[str]:
    """What merging would do, in sentences."""
    texts = [
        trn("{n} entry is new and will count.", "{n} entries are new and will count.", plan.taken),
        trn("{n} entry is known already.", "{n} entries are known already.", plan.known),
        trn(
            "{n} entry disagrees with what was said here: you decide.",
            "{n} entries disagree with what was said here: you decide.",
            plan.disagreements,
        )
        if plan.disagreements
        else tr("There is no disagreement."),
        agreement_text(plan.agreement),
    ]
    return [*texts, plan.warning] if plan.warning else texts


def merged_texts(plan: MergePlan, moved: int) -> list[str]:
    """What merging did."""
    texts = [
        trn("{n} entry was taken over.", "{n} entries were taken over.", plan.taken),
        trn("{n} entry was known already.", "{n} entries were known already.", plan.known),
        trn("{n} image moved.", "{n} images moved.", moved),
    ]
    if plan.disagreements:
        texts.append(trn("{n} disagreement waits for you.", "{n} disagreements wait for you.", plan.disagreements))
    return texts


def agreement_text(found: Agreement) -> str:
    """How far the two agree."""
    if not found.pairs:
        return tr("No pair of images is known to both independently: their agreement cannot be told.")
    if found.pairs < _FEW:
        return trn(
            "{n} pair of images is known to both independently: too few to tell how far they agree.",
            "{n} pairs of images are known to both independently, {agreed} of them the same way: too few to tell more.",
            found.pairs,
            agreed=number(found.agreed),
        )
    values = {"n": number(found.pairs), "share": percent(found.agreed / found.pairs)}
    if found.kappa is None:
        if found.explicit:
            return tr(
                "Of {n} pairs that both answered they agree on {share}; too little differs for Cohen's kappa.", **values
            )
        return tr(
            "Of {n} pairs that follow from what each said they agree on {share}; too little differs for Cohen's kappa.",
            **values,
        )
    values |= {"kappa": decimal(found.kappa, 2), "low": decimal(found.low, 2), "high": decimal(found.high, 2)}
    if found.explicit:
        return tr(
            "Agreement: Cohen's kappa {kappa} (95 % interval {low} to {high}) over {n} pairs that both answered; "
            "{share} of them the same way.",
            **values,
        )
    return tr(
        "Agreement: Cohen's kappa {kappa} (95 % interval {low} to {high}) over {n} pairs that follow from what each "
        "said; {share} of them the same way.",
        **values,
    )


def disagreement_text(one: Disagreement, name: Callable[[int], str]) -> str:
    """Both statements in a sentence; ``name`` gives what an image is called."""
    left, right = (name(item) if item >= 0 else "" for item in (one.left, one.right))
    if one.about is About.PAIR:
        values = {"left": left, "right": right, "n": len(one.chain)}
        if one.same:
            return tr("{left} and {right}: theirs says the same, ours says different.", **values)
        return tr("{left} and {right}: theirs says different, ours says the same.", **values)
    if one.about is About.TAKEN_BACK:
        ours = next((entry.text for entry in one.behind if entry is not None), "")
        if not right:
            return tr("“{entry}”: ours says so, theirs took it back.", entry=ours)
        return tr("{left} and {right}: ours says “{entry}”, theirs took it back.", left=left, right=right, entry=ours)
    if one.about is About.SAME_NAME:
        return tr("Both have a cluster “{name}”, but they are two here.", name=one.theirs)
    return tr(
        "A cluster ({image}): ours says “{ours}”, theirs says “{theirs}”.",
        image=left,
        ours=one.ours or tr("no name"),
        theirs=one.theirs or tr("no name"),
    )
