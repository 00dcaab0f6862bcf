"""The options of a new project, behind "Advanced", each with a default that suits most data."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QSpinBox, QWidget

from a3s_desktop.core.types import USE_CLUSTERS, InitialOptions, StrategyOptions
from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.form_parts import choices, form_row, indent, new_form

_STRATEGY = (
    ("a3s", mark("A3S, most gain per answer")),
    ("a3s-paper", mark("A3S as published")),
    ("cobra", mark("COBRA: super-instances")),
    ("random", mark("Random pairs")),
    ("ffqs", mark("Explore and consolidate (FFQS)")),
    ("npu", mark("Most uncertain image (NPU)")),
    ("urasc", mark("Uncertainty reduction (URASC)")),
)
_PAPER = "a3s-paper"
_INITIAL = (
    ("fpc", mark("Fast probabilistic clustering")),
    ("kmeans", mark("K-means")),
    ("spectral", mark("Spectral")),
    ("agglomerative", mark("Agglomerative")),
)
_NORMALISATION = (
    ("auto", mark("Automatic: keep unit vectors, else as they are")),
    ("l2", mark("To unit length")),
    ("none", mark("As they are")),
)
_AGGREGATION = (
    ("mean", mark("Mean of the pairs' probabilities")),
    ("product", mark("Product of the pairs' probabilities")),
)


class OptionsForm(QWidget):
    """Edits `InitialOptions` and `StrategyOptions`.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        initial, strategy = InitialOptions(), StrategyOptions()
        form = new_form(self)
        self.neighbors = _spin(2, 500, initial.neighbors)
        form_row(form, tr("Neighbours"), self.neighbors, tr("How many most alike images each image is compared with."))
        self.normalisation = choices(_NORMALISATION, initial.normalisation)
        form_row(form, tr("Embeddings"), self.normalisation, tr("Unit length suits embeddings compared by cosine."))
        self.initial = choices(_INITIAL, initial.initial)
        form_row(
            form,
            tr("First clustering"),
            self.initial,
            tr(
                "The number of clusters is always found by the first method. With thousands of images, the last two "
                "join small groups that it found; K-means then goes through the images in batches."
            ),
        )
        self.pseudo_labels = _spin(0, 1_000_000, 0)
        self.pseudo_labels.setSpecialValueText(tr("Automatic"))
        form_row(
            form, tr("Expected groups"), self.pseudo_labels,
            tr("A rough number of individuals, if you know it; it only calibrates the first guess."),
        )  # fmt: skip
        self.strategy = choices(_STRATEGY, strategy.strategy)
        form_row(
            form, tr("Questions"), self.strategy, tr("All but the first are for comparison; they need more answers.")
        )
        self.clusters = _spin(0, 1_000_000, 0)
        self.clusters.setSpecialValueText(tr("Not known"))
        form_row(form, tr("Number of groups"), self.clusters, tr("Only for strategies that must be told it."))
        self.aggregation = choices(_AGGREGATION, strategy.aggregation)
        form_row(form, tr("Two clusters alike"), self.aggregation, "")
        self.iterations = _spin(1, 10, strategy.iterations)
        form_row(form, tr("Rounds"), self.iterations, tr("How often all clusters are gone through."))
        self.purity_test = QCheckBox(tr("Ask first"))
        self.purity_test.setChecked(strategy.purity_test)
        form_row(
            form, tr("Purity test"), self.purity_test,
            tr("Ask whether a cluster is one individual before it is merged."),
        )  # fmt: skip
        self.seed = _spin(0, 2_000_000_000, initial.seed)
        form_row(form, tr("Random seed"), self.seed, tr("The same seed and answers give the same questions."))
        for spin in (self.neighbors, self.pseudo_labels, self.clusters, self.iterations, self.seed):
            spin.valueChanged.connect(self.changed)
        for combo in (self.normalisation, self.initial, self.strategy, self.aggregation):
            combo.currentIndexChanged.connect(self.changed)
        self.purity_test.toggled.connect(self.changed)
        self.strategy.currentIndexChanged.connect(self._show_what_counts)
        self._show_what_counts()

    def initial_options(self) -> InitialOptions:
        """Options of stage one."""
        return InitialOptions(
            neighbors=self.neighbors.value(),
            normalisation=self.normalisation.currentData(),
            initial=self.initial.currentData(),
            pseudo_labels=self.pseudo_labels.value() or None,
            seed=self.seed.value(),
        )

    def strategy_options(self) -> StrategyOptions:
        """Options of stage two."""
        chosen = self.strategy.currentData()
        return StrategyOptions(
            strategy=chosen,
            clusters=(self.clusters.value() or None) if chosen in USE_CLUSTERS else None,
            aggregation=self.aggregation.currentData(),
            iterations=self.iterations.value(),
            purity_test=self.purity_test.isChecked(),
            seed=self.seed.value(),
        )

    @Slot()
    def _show_what_counts(self) -> None:
        """Options that the chosen strategy does not look at cannot be set."""
        chosen = self.strategy.currentData()
        self.clusters.setEnabled(chosen in USE_CLUSTERS)
        for field in (self.aggregation, self.iterations, self.purity_test):
            field.setEnabled(chosen == _PAPER)


def _spin(low: int, high: int, value: int) -> QSpinBox:
    spin = QSpinBox()
    spin.setRange(low, high)
    spin.setValue(value)
    spin.setMinimumWidth(140)
    indent(spin)
    return spin
