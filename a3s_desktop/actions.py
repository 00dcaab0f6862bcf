"""What a user can do, as data: one row per action with its name, default keys, scope and whether it may auto-repeat.

Menus, buttons, the legend on the pair page and the shortcut settings all read this table; nothing else binds a key.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class Scope(enum.Enum):
    """Where an action's keys are live."""

    WINDOW = "window"  # anywhere in the main window
    PAIR = "pair"  # while the pair page is shown
    CLUSTERS = "clusters"  # while the clusters page is shown
    AUDIT = "audit"  # while the sample check is shown


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    Attributes
    ----------
    id : str
        Stable name ("answer.same"), used in settings and tests.
    text : str
        Menu text, without mnemonic.
    keys : tuple of str
        Default key sequences in Qt's portable text; the first is the one shown to the user.
    scope : Scope
    icon : str
        Name of an SVG in ``resources/icons`` without extension; empty for none.
    tip : str
        One sentence for tool tip and status line.
    repeat : bool
        Whether a held key repeats the action. Never for anything that changes data.
    positions : bool
        Whether letters are also bound by their place on the keyboard, for layouts without Latin letters.
    checkable : bool
    hold : bool
        Whether it lasts while its key is held and ends when the key is let go (``Shortcuts.held``).
    legend : str
        Short wording for the legend on the pair page; empty: not listed there.
    """

    id: str
    text: str
    keys: tuple[str, ...]
    scope: Scope
    icon: str = ""
    tip: str = ""
    repeat: bool = False
    positions: bool = True
    checkable: bool = False
    legend: str = ""
    hold: bool = False


ACTIONS: tuple[ActionSpec, ...] = (
    # the pair
    ActionSpec("answer.same", "Same", ("F", "Left"), Scope.PAIR, "same",
               "Both images show the same individual.", legend="same"),
    ActionSpec("answer.different", "Different", ("J", "Right"), Scope.PAIR, "different",
               "The images show different individuals.", legend="different"),
    ActionSpec("answer.skip", "Skip", ("Space",), Scope.PAIR, "skip",
               "Not sure: no conclusion is drawn, and this pair is not asked again.", legend="skip"),
    ActionSpec("answer.incomparable", "Not comparable", ("N",), Scope.PAIR, "incomparable",
               "Nothing can be seen that both images show, such as two different sides. No conclusion is drawn, and "
               "these two are never asked again."),
    ActionSpec("answer.junk_left", "Junk left", ("Z",), Scope.PAIR, "junk-left",
               "The left image is of no use: it leaves the clusters. Undo, or the view of the junk, brings it back."),
    ActionSpec("answer.junk_right", "Junk right", ("X",), Scope.PAIR, "junk-right",
               "The right image is of no use: it leaves the clusters. Undo, or the view of the junk, brings it back."),
    ActionSpec("answer.junk_both", "Junk both", ("C",), Scope.PAIR, "junk-both",
               "Neither image is of any use: both leave the clusters."
               " Undo, or the view of the junk, brings them back."),
    ActionSpec("edit.undo", "Undo", ("Ctrl+Z", "U", "Alt+Backspace"), Scope.WINDOW, "undo",
               "Take back the last answer and everything it caused.", legend="undo"),
    ActionSpec("edit.redo", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), Scope.WINDOW, "redo",
               "Give the answer again that was taken back."),
    ActionSpec("edit.requeue", "Ask skipped pairs again", ("Ctrl+R",), Scope.WINDOW, "requeue",
               "Pairs that were skipped may be asked again. Pairs that cannot be compared stay away."),
    # looking
    ActionSpec("view.fit", "Whole images", ("0", "Ctrl+0", "Home"), Scope.PAIR, "fit",
               "Show both images whole.", legend="whole"),
    ActionSpec("view.actual", "Actual size", ("1", "Ctrl+1"), Scope.PAIR, "actual",
               "Show one image pixel on one screen pixel.", legend="1:1"),
    ActionSpec("view.zoom_in", "Zoom in", ("+", "=", "Ctrl++", "PgUp"), Scope.PAIR, "zoom-in",
               "Enlarge both images.", repeat=True, positions=False, legend="zoom"),
    ActionSpec("view.zoom_out", "Zoom out", ("-", "Ctrl+-", "PgDown"), Scope.PAIR, "zoom-out",
               "Make both images smaller.", repeat=True, positions=False, legend="zoom out"),
    ActionSpec("view.left", "Look further left", ("Shift+Left",), Scope.PAIR, "",
               "Move enlarged images.", repeat=True, legend="move"),
    ActionSpec("view.right", "Look further right", ("Shift+Right",), Scope.PAIR, "",
               "Move enlarged images.", repeat=True),
    ActionSpec("view.up", "Look further up", ("Shift+Up",), Scope.PAIR, "",
               "Move enlarged images.", repeat=True),
    ActionSpec("view.down", "Look further down", ("Shift+Down",), Scope.PAIR, "",
               "Move enlarged images.", repeat=True),
    ActionSpec("view.link", "Link zoom", ("L",), Scope.PAIR, "link",
               "Zoom and move both images together. Off, keys move the right image alone.",
               checkable=True, legend="link zoom"),
    ActionSpec("compare.flip", "Flip", ("V", "End"), Scope.PAIR, "flip",
               "While the key is held, each image is shown in the place of the other.",
               hold=True, legend="flip (hold)"),
    ActionSpec("compare.overlay", "Overlay", ("O",), Scope.PAIR, "overlay",
               "Lay the right image over the left one. The same key goes back.",
               checkable=True, legend="overlay"),
    ActionSpec("compare.split", "Split", ("S",), Scope.PAIR, "split",
               "Both images in one place, parted by a line. The same key goes back.",
               checkable=True, legend="split"),
    ActionSpec("compare.difference", "Difference", ("D",), Scope.PAIR, "difference",
               "Show only where the images differ. The same key goes back.",
               checkable=True, legend="difference"),
    ActionSpec("compare.more", "More of the right image", ("Up",), Scope.PAIR, "",
               "Overlay: more opaque. Split: the line to the right. Difference: stronger.",
               repeat=True),
    ActionSpec("compare.less", "Less of the right image", ("Down",), Scope.PAIR, "",
               "Overlay: more transparent. Split: the line to the left. Difference: weaker.", repeat=True),
    ActionSpec("compare.turn_left", "Turn the left image", ("E",), Scope.PAIR, "turn-left",
               "Turn the left image a quarter clockwise.", legend="turn"),
    ActionSpec("compare.turn_right", "Turn the right image", ("R",), Scope.PAIR, "turn-right",
               "Turn the right image a quarter clockwise."),
    ActionSpec("compare.mirror_left", "Mirror the left image", ("Shift+E",), Scope.PAIR, "mirror-left",
               "Exchange left and right of the left image."),
    ActionSpec("compare.mirror_right", "Mirror the right image", ("Shift+R",), Scope.PAIR, "mirror-right",
               "Exchange left and right of the right image."),
    ActionSpec("compare.photo", "Whole photo", ("P",), Scope.PAIR, "image",
               "Images that are parts of photos: show the whole photos, the parts marked. The same key goes back.",
               checkable=True),
    ActionSpec("compare.tones", "Tones…", ("A",), Scope.PAIR, "tones",
               "Brightness, contrast, gamma and equalise, for this pair and the following ones.",
               checkable=True, legend="tones"),
    ActionSpec("compare.brighter", "Brighter", ("B",), Scope.PAIR, "", repeat=True),
    ActionSpec("compare.darker", "Darker", ("Shift+B",), Scope.PAIR, "", repeat=True),
    ActionSpec("compare.more_contrast", "More contrast", ("K",), Scope.PAIR, "", repeat=True),
    ActionSpec("compare.less_contrast", "Less contrast", ("Shift+K",), Scope.PAIR, "", repeat=True),
    ActionSpec("compare.more_gamma", "Lighter shadows", ("G",), Scope.PAIR, "", repeat=True),
    ActionSpec("compare.less_gamma", "Darker shadows", ("Shift+G",), Scope.PAIR, "", repeat=True),
    ActionSpec("compare.equalise", "Equalise", ("Q",), Scope.PAIR, "",
               "Spread the tones of each image over the whole range.", checkable=True),
    ActionSpec("compare.original", "As the files are", ("W",), Scope.PAIR, "original",
               "Tones as in the files, nothing turned or mirrored."),
    ActionSpec("compare.facts", "File facts", ("I",), Scope.PAIR, "info",
               "Name, folder, size and date of both files, over the images.",
               checkable=True, legend="file facts"),
    ActionSpec("view.blind", "Hide scores", ("Ctrl+B",), Scope.PAIR, "",
               "Blind mode: neither probabilities nor suggestions are shown before the answer.", checkable=True),
    ActionSpec("view.legend", "Show keys", ("?",), Scope.PAIR, "keyboard",
               "Show or hide the list of keys.", positions=False, checkable=True, legend="hide"),
    # clusters
    ActionSpec("gallery.open", "Open", ("Return", "Enter"), Scope.CLUSTERS, "grid",
               "Open the cluster, or show the image large."),
    ActionSpec("gallery.back", "Back to all clusters", ("Backspace", "Alt+Left"), Scope.CLUSTERS, "chevron-left",
               "Close the open cluster."),
    ActionSpec("gallery.all", "All clusters", ("1",), Scope.CLUSTERS, "grid", "Show a card for each cluster.",
               checkable=True),
    ActionSpec("gallery.singles", "Single images", ("2",), Scope.CLUSTERS, "image",
               "Each single image beside the cluster it most likely belongs to.", checkable=True),
    ActionSpec("gallery.junk", "Junk", ("3",), Scope.CLUSTERS, "trash", "Images that were taken out of the sorting.",
               checkable=True),
    ActionSpec("gallery.find", "Find", ("/", "Ctrl+F"), Scope.CLUSTERS, "search",
               "Find clusters by name, number or file name.", positions=False),
    ActionSpec("gallery.order", "Next order", ("O",), Scope.CLUSTERS, "",
               "Clusters by size, doubt, name or unfinished first; images by doubt or name."),
    ActionSpec("cluster.split", "Split off", ("S",), Scope.CLUSTERS, "split-off",
               "Make the selected images one cluster of their own."),
    ActionSpec("cluster.each", "One by one", ("E",), Scope.CLUSTERS, "split",
               "Make each selected image a cluster of its own."),
    ActionSpec("cluster.move", "Move to…", ("T",), Scope.CLUSTERS, "move-to",
               "Put the selected images into another cluster."),
    ActionSpec("cluster.junk", "Junk", ("X", "Del"), Scope.CLUSTERS, "trash",
               "Take the selected images out of the sorting; can be undone."),
    ActionSpec("cluster.restore", "Restore", ("R",), Scope.CLUSTERS, "undo",
               "Take the selected images back from junk."),
    ActionSpec("cluster.merge", "Merge with…", ("M",), Scope.CLUSTERS, "link",
               "Make two clusters one: the two that are selected, or this one and another."),
    ActionSpec("cluster.accept", "Accept the proposal", ("A",), Scope.CLUSTERS, "check",
               "Merge with the nearest cluster that is marked; put the single image into its likely cluster."),
    ActionSpec("cluster.next", "Go on", ("Space", "D"), Scope.CLUSTERS, "skip",
               "Leave this single image as it is and look at the next one."),
    ActionSpec("cluster.name", "Name…", ("N", "F2"), Scope.CLUSTERS, "text", "Give the cluster a name."),
    ActionSpec("cluster.finish", "Finished", ("F",), Scope.CLUSTERS, "check-circle",
               "Ask nothing more about the cluster, or open it for questions again.", checkable=True),
    # panels and pages
    ActionSpec("page.pair", "Pairs", ("Alt+1",), Scope.WINDOW, "columns", "Answer pair after pair.", checkable=True),
    ActionSpec("page.clusters", "Clusters", ("Alt+2", "Ctrl+L"), Scope.WINDOW, "grid",
               "Review and correct the clusters.", checkable=True),
    ActionSpec("panel.map", "Map", ("Ctrl+M",), Scope.WINDOW, "map", "Show or hide the map.", checkable=True),
    ActionSpec("panel.history", "History", ("Ctrl+H",), Scope.WINDOW, "history",
               "Show or hide the list of answers.", checkable=True),
    ActionSpec("panel.cluster", "Cluster images", ("Ctrl+G",), Scope.WINDOW, "grid",
               "Show or hide the images of one cluster.", checkable=True),
    ActionSpec("panel.progress", "Progress", ("Ctrl+P",), Scope.WINDOW, "progress",
               "Show or hide what was reached, and how much is left.", checkable=True),
    ActionSpec("history.doubtful", "Doubtful answers…", ("Ctrl+D",), Scope.WINDOW, "search",
               "Look again at the answers that the images speak against, most doubtful first."),
    ActionSpec("audit.open", "Check a sample…", ("Ctrl+Shift+C",), Scope.WINDOW, "sample",
               "Look at pairs drawn at random from the clusters, to estimate how many of them are right."),
    ActionSpec("audit.same", "Same", ("F", "Left"), Scope.AUDIT, "same",
               "Sample check: both show the same individual."),
    ActionSpec("audit.unsure", "Cannot tell", ("Space",), Scope.AUDIT, "skip",
               "Sample check: the images do not show enough; the pair does not count."),
    ActionSpec("audit.different", "Different", ("J", "Right"), Scope.AUDIT, "different",
               "Sample check: they show different individuals."),
    ActionSpec("audit.back", "Back to the pairs", ("Esc",), Scope.AUDIT, "chevron-left", "Leave the sample check."),
    # the project
    ActionSpec("project.new", "New project…", ("Ctrl+N",), Scope.WINDOW, "plus",
               "Start a project from an image folder and its embeddings."),
    ActionSpec("project.open", "Open project…", ("Ctrl+O",), Scope.WINDOW, "folder", "Open a project folder."),
    ActionSpec("project.demo", "Open demo", (), Scope.WINDOW, "sparkle", "Try it on pictures the program draws."),
    ActionSpec("project.export", "Export…", ("Ctrl+E",), Scope.WINDOW, "export",
               "Write the clusters to a file, to folders, to side-cars, or as a report."),
    ActionSpec("project.show_export", "Show last export", (), Scope.WINDOW, "folder",
               "Open the folder that holds what was exported last."),
    ActionSpec("project.labels", "Known names…", (), Scope.WINDOW, "import",
               "Take names over from a table: they become confirmed names."),
    ActionSpec("project.merge", "Merge with a copy…", (), Scope.WINDOW, "import",
               "Take over what another person answered in a copy of this project."),
    ActionSpec("project.disagreements", "Disagreements…", (), Scope.WINDOW, "different",
               "Decide where another person's answers or names differ from those here."),
    ActionSpec("project.add", "Add images…", (), Scope.WINDOW, "plus",
               "Take new images in; every answer, name and mark stays."),
    ActionSpec("project.replace", "Replace features…", (), Scope.WINDOW, "import",
               "Use the features of a better model; every answer stays."),
    ActionSpec("project.locate", "Locate image folder…", (), Scope.WINDOW, "folder",
               "Say where the images are after they were moved."),
    ActionSpec("project.backups", "Backups…", (), Scope.WINDOW, "history",
               "See what the backups of the project hold, and go back to one."),
    ActionSpec("project.check", "Check…", (), Scope.WINDOW, "check-circle",
               "Verify everything in the project, and repair what is damaged."),
    ActionSpec("project.close", "Close project", ("Ctrl+W",), Scope.WINDOW, "close", "Go back to the start page."),
    # the program
    ActionSpec("settings.annotator", "Annotator's name…", (), Scope.WINDOW, "text",
               "The name that is kept with every answer, so that the work of several people can be told apart."),
    ActionSpec("settings.clear", "Clear private data…", (), Scope.WINDOW, "trash",
               "Small copies of images, logs, the list of recent projects: see what there is, and remove it."),
    ActionSpec("settings.keys", "Keyboard shortcuts…", ("Ctrl+K",), Scope.WINDOW, "keyboard",
               "See and change the keys of every action."),
    ActionSpec("language.system", "Language of the system", (), Scope.WINDOW, checkable=True),
    ActionSpec("language.en", "English", (), Scope.WINDOW, checkable=True),
    ActionSpec("language.de", "Deutsch", (), Scope.WINDOW, checkable=True),
    ActionSpec("theme.system", "Follow the system", (), Scope.WINDOW, checkable=True),
    ActionSpec("theme.light", "Light", (), Scope.WINDOW, "sun", checkable=True),
    ActionSpec("theme.dark", "Dark", (), Scope.WINDOW, "moon", checkable=True),
    ActionSpec("theme.contrast", "High contrast", (), Scope.WINDOW, "contrast", checkable=True),
    ActionSpec("window.text_larger", "Larger text", (), Scope.WINDOW, "text", "Make all text larger."),
    ActionSpec("window.text_smaller", "Smaller text", (), Scope.WINDOW, "", "Make all text smaller."),
    ActionSpec("window.next_part", "Next part of the window", ("F6",), Scope.WINDOW, "",
               "Move the keyboard to the next part: pages, map, panels."),
    ActionSpec("window.previous_part", "Previous part of the window", ("Shift+F6",), Scope.WINDOW, "",
               "Move the keyboard to the part before."),
    ActionSpec("window.fullscreen", "Full screen", ("F11",), Scope.WINDOW, "expand", checkable=True),
    ActionSpec("help.contents", "Help", ("F1",), Scope.WINDOW, "help",
               "Short pages about everything the program does."),
    ActionSpec("help.tour", "Show the tour", (), Scope.WINDOW, "", "Four steps through the pair page."),
    ActionSpec("help.about", "About A3S Desktop", (), Scope.WINDOW, "info"),
    ActionSpec("app.quit", "Quit", ("Ctrl+Q",), Scope.WINDOW, "quit", "Every answer is already saved."),
)  # fmt: skip


# Groups of the table in the shortcut editor and the help, by the first part of the id.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Answers", ("answer", "edit")),
    ("Looking at the pair", ("view", "compare")),
    ("Clusters and map", ("cluster", "gallery", "map", "history", "audit")),
    ("Panels and pages", ("panel", "page")),
    ("Project", ("project", "export")),
    ("Program", ("settings", "language", "theme", "window", "help", "app")),
)
OTHER_GROUP = "Other"


def grouped(actions: Sequence[ActionSpec] = ACTIONS) -> tuple[tuple[str, tuple[ActionSpec, ...]], ...]:
    """The table by group, each in the table's order; groups without actions are left out."""
    names = {prefix: title for title, prefixes in GROUPS for prefix in prefixes}
    found: dict[str, list[ActionSpec]] = {title: [] for title in (*(title for title, _ in GROUPS), OTHER_GROUP)}
    for spec in actions:
        found[names.get(spec.id.partition(".")[0], OTHER_GROUP)].append(spec)
    return tuple((title, tuple(specs)) for title, specs in found.items() if specs)


def by_id(actions: Sequence[ActionSpec] = ACTIONS) -> dict[str, ActionSpec]:
    """The table by action id, in its order."""
    return {spec.id: spec for spec in actions}


def effective_keys(
    overrides: Mapping[str, Sequence[str]], actions: Sequence[ActionSpec] = ACTIONS
) -> dict[str, tuple[str, ...]]:
    """Keys of every action: the user's where there are any, else the defaults. Unknown ids are left out."""
    return {spec.id: tuple(overrides.get(spec.id, spec.keys)) for spec in actions}


def clashes(keys: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Key sequences bound more than once, with the ids that share them.

    The scope of a page is live together with the window's, so a key shared by these two clashes; two pages are never
    shown together. Sequences are compared without regard to case and spaces.
    """
    users: dict[str, list[str]] = {}
    for action, sequences in keys.items():
        for sequence in dict.fromkeys(normal_key(s) for s in sequences):
            if sequence:
                users.setdefault(sequence, []).append(action)
    specs = by_id()
    found: dict[str, tuple[str, ...]] = {}
    for sequence, ids in users.items():
        scopes = {name: specs[name].scope if name in specs else Scope.WINDOW for name in ids}
        for page in (Scope.PAIR, Scope.CLUSTERS, Scope.AUDIT):
            together = tuple(name for name in ids if scopes[name] in (page, Scope.WINDOW))
            if len(together) > 1:
                found[sequence] = tuple(dict.fromkeys((*found.get(sequence, ()), *together)))
    return found


def normal_key(sequence: str) -> str:
    """A key sequence in one spelling: no spaces, modifiers in a fixed order, parts in lower case."""
    text = sequence.strip().replace(" ", "").lower()
    if not text:
        return ""
    plus = text.endswith("+")
    parts = [part for part in (text[:-1] if plus else text).split("+") if part]
    key = "+" if plus else parts.pop()
    order = ("ctrl", "alt", "shift", "meta")
    modifiers = sorted(set(parts), key=lambda part: order.index(part) if part in order else len(order))
    return "+".join([*modifiers, key])
