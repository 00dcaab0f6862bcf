"""P(same class) of two groups of samples, learnt from the answers as they come.

A logistic curve over a few facts about the two groups (`FACTS`). What holds for most data is the prior: weights that
fit people, faces and digits of several feature sets together, with standard deviations wide enough for a data set to
go its own way. The level (how many of the candidates are the same at all) differs most between data sets and falls as
the easy merges are used up; the answers settle it within a dozen questions. Nobody has to know K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

FACTS = 13
"""One; log of the largest and of the mean similarity between the groups; how much more alike they are to each other
than to their next best (log ratio); distance in units of the edges' spread; log size of the smaller and of the larger
group; log(1 + answers that held the smaller group apart from others, or that confirmed the cluster); length of the
shortest edge between the groups, in units of the edges' spread (it finds the home of outliers); distance in the metric
in which near pairs differ alike in all directions, and how much nearer the groups are in it than the next best of the
smaller and of the larger one (for two clusters only; 0 inside); how much more of its likeness the smaller part has to
the rest of its cluster than to all outside (log ratio, inside only; 0 for two clusters)"""

_LEARNT = (0.0, 0.0, 0.0)
"""Mean of the weights of that metric before any answer: how much it tells differs from data to data, also in sign
beside the other distance, so the answers alone decide."""

_BELONGING = 0.4
"""Mean weight of how much of a part's likeness is to its own cluster. Samples that lie between two large clusters have
nearest neighbours in their own, and many more in the other. Fitted beside the other facts to the places inside clusters
of seven feature sets (people, faces, digits), with each set's own level and before small clusters were allowed for, it
is above 0 whichever set is left out; its size is an empirical choice. With it, digits by their Fourier coefficients
reach NMI .865, ARI .809 after 600 answers instead of .857 and .798, faces .976 and .965 after 40 instead of .973, .958;
people and digits of several views change by less than .01 either way, but for one place (people after 60 answers: ARI
-.014). From 0.7 on it hides other strangers: faces stay at .988."""

MEMORY = 80.0
"""Answers count less with age, by 1/e over so many: the questions change in kind as the work goes on."""

STEADY_FROM = 8.0
"""Samples of the smaller of two clusters from which on logits count for more, by the fifth root of its size; see
`steadied`.

Of the pairs whose smaller cluster had 13 samples or more, 1 of 212 that were asked at a P(same) of .03 to .06 were the
same, 5 % at .06 to .1, 12 % at .14, 29 % at .27; 64 % at .61 and 83 % at .80. Of those with 2 to 4 samples, 31 % at
.15, 36 % at .27, 58 % at .60 and 72 % at .80 (people, faces and digits, nine feature sets; logistic curves through
logits are of slope .6 up to 4 samples, 1.1 from 5 to 40, 1.3 beyond). A fifth root and this size are an empirical
choice; a third root makes little difference, and less steep curves for small groups lose on people."""

STEADIEST = 2.0
"""... and the most that they count for, which 256 samples have."""

_STEADIER = 0.2
_LEAST = 1e-13  # chance whose logarithm is taken for that of less

_MOST = 5  # memories: older answers weigh less than 1 %
_BLOCK = 4_096  # rows whose facts are turned into columns at once: they fit into the processor's own memory
_ROUNDS = 30
_CLOSE = 1e-6
_SHORTEST_STEP = 2.0**-10


@dataclass(frozen=True, slots=True)
class Prior:
    """Mean and standard deviation of each weight, float64 (FACTS,)."""

    mean: Vector
    deviation: Vector


def merge_prior() -> Prior:
    """For two clusters that might be one."""
    return Prior(np.array([0.7, 0.7, 0.3, 0.35, -0.45, -0.3, 0.25, -0.6, -0.2, *_LEARNT, 0.0]), _deviation())


def inner_prior() -> Prior:
    """For two parts of one cluster."""
    return Prior(np.array([1.8, 0.4, 0.4, 0.9, -0.2, 0.3, -0.1, 0.3, -0.1, *_LEARNT, _BELONGING]), _deviation())


def _deviation() -> Vector:
    return np.array([1.7, 0.4, 0.4, 0.4, 0.5, 0.3, 0.3, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3])


def probability(facts: Vector, weights: Vector) -> Vector:
    """P(same class) for rows of facts, float64 (m,).

    ``weights`` are the same for all rows, (FACTS,), or each row's own, (m, FACTS).

    The sum is made column by column, so that a row's value does not depend on what other rows it stands among.
    """
    total = np.zeros(len(facts))
    for at in range(0, len(facts), _BLOCK):
        some, sums = np.ascontiguousarray(facts[at : at + _BLOCK].T), total[at : at + _BLOCK]
        own = weights if weights.ndim == 1 else weights[at : at + _BLOCK]
        for k in range(FACTS):
            sums += some[k] * own[..., k]
    result: Vector = 1.0 / (1.0 + np.exp(-np.clip(total, -30.0, 30.0)))
    return result


def steadied(chance: Vector, smaller: Vector) -> Vector:
    """P(same) of two clusters as a question about them is worth it: the surer, either way, the more samples tell it.

    What is known of large clusters are means over many pairs of samples, in which chance has a smaller part than in
    what is known of single samples; but the model's curve is equally steep for both. So logits grow with the size of
    the smaller cluster, beyond `STEADY_FROM` samples.

    What is joined unasked, and when nothing is left to ask, goes by the chance itself: with logits that grow there too,
    and in what is learnt, small groups are not joined any more that belong together (digits of four views: ARI .81
    instead of .91 after 40 answers).

    Parameters
    ----------
    chance : float64, shape (m,)
    smaller : float64, shape (m,)
        Log size of the smaller of the two clusters, as in the facts.

    Returns
    -------
    float64, shape (m,)
    """
    logit = np.log(np.maximum(chance, _LEAST)) - np.log(np.maximum(1.0 - chance, _LEAST))
    factor = np.exp(_STEADIER * (smaller - np.log(STEADY_FROM))).clip(1.0, STEADIEST)
    result: Vector = 1.0 / (1.0 + np.exp(-factor * logit))
    return result


def fit(rows: Vector, prior: Prior, memory: float = MEMORY, start: Vector | None = None) -> Vector:
    """Weights of greatest posterior probability, by Newton's method; steps that overshoot are halved.

    Parameters
    ----------
    rows : float64, shape (n, FACTS + 1)
        Facts of the pairs that were answered, in order, and 1.0 for *same*, 0.0 for *different*.
    prior : Prior
    memory : float
        Answers over which their weight falls by 1/e.
    start : float64, shape (FACTS,), optional
        Weights to begin with: from those of a few answers ago it is a shorter way to the same place. Default: the
        prior's mean.

    Returns
    -------
    float64, shape (FACTS,), rounded to 1e-6 so that the last bits of a sum cannot change a choice.
    """
    rows = rows[-remembered(memory) :]
    facts, same = rows[:, :FACTS], rows[:, FACTS]
    weight = np.exp(-(len(rows) - 1 - np.arange(len(rows))) / memory)
    precision = 1.0 / prior.deviation**2
    w = prior.mean.copy() if start is None else start.copy()
    value, z = _log_posterior(w, facts, same, weight, prior)
    for _ in range(_ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(z, -30.0, 30.0)))
        gradient = np.einsum("n,nd->d", weight * (same - p), facts) - precision * (w - prior.mean)
        curvature = (facts * (weight * p * (1.0 - p))[:, None]).T @ facts + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        share = 1.0
        while (reached := _log_posterior(w + share * step, facts, same, weight, prior))[0] < value:
            share /= 2.0
            if share < _SHORTEST_STEP:  # the value is as large as rounding lets it be
                return w.round(6)
        w, (value, z) = w + share * step, reached
        if np.abs(step).max() < _CLOSE:  # the next step would be about as small as its square
            break
    return w.round(6)


def remembered(memory: float = MEMORY) -> int:
    """How many of the newest answers count in a fit."""
    return round(_MOST * memory)


def _log_posterior(w: Vector, facts: Vector, same: Vector, weight: Vector, prior: Prior) -> tuple[float, Vector]:
    """The value, and the logits."""
    z: Vector = np.einsum("nd,d->n", facts, w)
    likelihood = float((weight * (same * z - np.logaddexp(0.0, z))).sum())
    return likelihood - float((((w - prior.mean) / prior.deviation) ** 2).sum()) / 2.0, z


def link_strengths(largest: Sequence[float] | Vector, mean: Sequence[float] | Vector) -> tuple[Vector, Vector]:
    """Facts 1 and 2: logarithms of the largest and of the mean similarity, kept finite by 0.01."""
    return np.log(np.asarray(largest) + 0.01), np.log(np.asarray(mean) + 0.01)
