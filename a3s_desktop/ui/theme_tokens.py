"""Design tokens: the colours of the four themes and of the clusters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours of one theme, as ``#RRGGBB``. Text on its ground has a contrast of 4.5 or more (WCAG AA)."""

    name: str
    window: str  # behind everything
    surface: str  # panels, cards
    raised: str  # buttons, fields on a surface
    hover: str
    pressed: str
    stage: str  # behind images: neutral, so that colours are judged rightly
    border: str  # decorative lines
    outline: str  # lines that carry meaning (3:1): field frames, focus
    text: str
    muted: str
    disabled: str  # what cannot be used now
    accent: str
    on_accent: str
    accent_soft: str  # selected rows, quiet emphasis
    same: str
    on_same: str
    same_soft: str
    different: str
    on_different: str
    different_soft: str
    skip: str
    warning: str
    warning_soft: str
    danger: str
    danger_soft: str

    @property
    def dark(self) -> bool:
        """Whether light text stands on dark ground."""
        return self.name.endswith("dark")

    @property
    def strong(self) -> bool:
        """Whether this is a theme of high contrast."""
        return self.name.startswith("contrast")


DARK = Tokens(
    name="dark", window="#14171C", surface="#1B1F26", raised="#262C36", hover="#303744", pressed="#1F242D",
    stage="#0D0F13", border="#2E3540", outline="#6B7686", text="#E9ECF1", muted="#A4AEBD", disabled="#6B7686",
    accent="#8CA8FF", on_accent="#0B1330", accent_soft="#26325A",
    same="#3CC7A6", on_same="#04231B", same_soft="#16362F",
    different="#FF9A62", on_different="#331503", different_soft="#40281B",
    skip="#A4AEBD", warning="#F2C14E", warning_soft="#3A311A", danger="#FF8A80", danger_soft="#42221F",
)  # fmt: skip
LIGHT = Tokens(
    name="light", window="#F3F4F7", surface="#FFFFFF", raised="#FFFFFF", hover="#EEF0F5", pressed="#E2E6EE",
    stage="#E4E7EC", border="#D8DCE4", outline="#7C8797", text="#171B22", muted="#566070", disabled="#7C8797",
    accent="#3450D0", on_accent="#FFFFFF", accent_soft="#E3E8FD",
    same="#0A7762", on_same="#FFFFFF", same_soft="#DDF3ED",
    different="#B04A12", on_different="#FFFFFF", different_soft="#FCE9DE",
    skip="#566070", warning="#8A5A00", warning_soft="#FFF3D6", danger="#B3261E", danger_soft="#FCE4E2",
)  # fmt: skip

# High contrast: text 7:1 or more on any ground, every line 4.5:1, no ground that only hints at itself.
CONTRAST_DARK = Tokens(
    name="contrast-dark", window="#000000", surface="#000000", raised="#101010", hover="#2A2A2A", pressed="#3A3A3A",
    stage="#000000", border="#C8C8C8", outline="#FFFFFF", text="#FFFFFF", muted="#E4E4E4", disabled="#8C8C8C",
    accent="#FFE34D", on_accent="#000000", accent_soft="#3A3400",
    same="#5CF0CC", on_same="#000000", same_soft="#00382B",
    different="#FFB184", on_different="#000000", different_soft="#4A2200",
    skip="#E4E4E4", warning="#FFDA70", warning_soft="#3A2E00", danger="#FFB3AC", danger_soft="#4A0A06",
)  # fmt: skip
CONTRAST_LIGHT = Tokens(
    name="contrast-light", window="#FFFFFF", surface="#FFFFFF", raised="#FFFFFF", hover="#E6E6E6", pressed="#D6D6D6",
    stage="#FFFFFF", border="#404040", outline="#000000", text="#000000", muted="#262626", disabled="#767676",
    accent="#001E9C", on_accent="#FFFFFF", accent_soft="#DCE4FF",
    same="#00483A", on_same="#FFFFFF", same_soft="#D6F7EE",
    different="#6E2600", on_different="#FFFFFF", different_soft="#FFE6D6",
    skip="#262626", warning="#553600", warning_soft="#FFF0C2", danger="#7A0C06", danger_soft="#FFE0DD",
)  # fmt: skip
THEMES = {t.name: t for t in (LIGHT, DARK, CONTRAST_LIGHT, CONTRAST_DARK)}

# Hues far apart for the three common colour-vision deficiencies, lightness alternating; then told apart by number.
CLUSTERS_DARK = (
    "#56B4E9", "#E69F00", "#3CC7A6", "#F28CB1", "#F0E442", "#8CA8FF", "#FF7F50", "#B8E07A", "#C79BEB", "#4FD8E0",
    "#D9A07A", "#9FB3C8", "#E86A8A", "#7BC96F", "#FFC98B", "#6F8DD6",
)  # fmt: skip
CLUSTERS_LIGHT = (
    "#0072B2", "#B86E00", "#0A7762", "#B8417A", "#7A6A00", "#3450D0", "#C2410C", "#4D7C0F", "#7E3FB2", "#0E7490",
    "#8A5A3C", "#52606D", "#A61E4D", "#2B7A2B", "#9A5B13", "#2F4B8F",
)  # fmt: skip
