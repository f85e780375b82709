"""The options of ``kbnf check`` as a value."""

from dataclasses import dataclass
from pathlib import Path

from kbnf_cli.config import Settings, SettingsFor
from kbnf_cli.inputs import FileInputs, Inputs
from kbnf_core.text.diagnostics import Severity

SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}


@dataclass(frozen=True, kw_only=True)
class CheckOptions(Inputs, FileInputs):
    """What a run of ``kbnf check`` is asked for."""

    reads_several = True

    paths: tuple[Path, ...]
    format_: str
    output_file: Path | None
    jobs: int
    watches: bool
    select: tuple[str, ...] | None
    ignore: tuple[str, ...] | None
    extend_select: tuple[str, ...] | None
    fail_on: str | None
    baseline: Path | None
    write_baseline: Path | None
    fix: bool
    show_diff: bool
    unsafe_fixes: bool
    cost: bool
    max_states: int | None
    max_mask_work: int | None
    targets: tuple[tuple[str, ...], ...]
    exit_zero: bool
    statistics: bool
    show_files: bool
    show_settings: bool
    no_cache: bool
    cache_dir: Path | None

    @property
    def settings(self) -> Settings:
        """What is set on the command line rather than in a configuration file."""
        asked = Settings(
            select=self.select,
            extend_select=self.extend_select,
            ignore=self.ignore,
            fail_on=None if self.fail_on is None else SEVERITIES[self.fail_on],
            vocab=self.vocab,
            eos=self.eos or None,
            targets=tuple(name for names in self.targets for name in names) or None,
            max_states=self.max_states,
            max_mask_work=self.max_mask_work,
        )
        return asked.over(self.file_settings)

    def all_settings(self) -> SettingsFor:
        """Return where the settings of a file come from, those of the command line included."""
        configured = self.settings_source()
        asked = self.settings
        return lambda file: asked.over(configured(file))
