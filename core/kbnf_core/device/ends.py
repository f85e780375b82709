"""Ends in time: how many tokens the nearest end of each state takes, and masks that leave as many.

A table knows the shortest way out of every state. So where so many tokens are left, those are
allowed after which the way out still fits, and no choice has to be weighed on the host.
"""

import numpy as np
import numpy.typing as npt

from kbnf_core.device.group import DeviceGrammars
from kbnf_core.device.need_torch import torch

_ENDLESS = np.iinfo(np.int32).max
"""From where no end is known."""


class NearestEnds:
    """Masks logits of a group's sequences so that their texts are over within a number of tokens.

    ``needs``: int32[states], tokens to the nearest end, that which ends the sequence among them.
    """

    def __init__(self, group: DeviceGrammars) -> None:
        self._group = group
        over = group.final.cpu().numpy()
        needs = tokens_to_end(group.transitions.cpu().numpy(), over)
        # What fits where too few tokens are left: one step on the shortest way, or anything.
        soonest = np.where(needs == _ENDLESS, _ENDLESS, np.maximum(needs - 1, 0))
        self.needs = torch.from_numpy(needs).to(group.final.device)
        self._soonest = torch.from_numpy(soonest.astype(np.int32)).to(group.final.device)

    def mask_logits_(
        self, logits: torch.Tensor, state: torch.Tensor, left: torch.Tensor
    ) -> torch.Tensor:
        """Do what ``DeviceGrammars.mask_logits_`` does, and leave enough of ``left`` to end.

        ``left``: int32[batch], tokens that are left to each sequence. Where they do not suffice,
        the shortest way out is taken. A sequence that waits for a text is not bounded.
        """
        group, row = self._group, state.long()
        allowed, token_class = group.arrays
        most = torch.maximum(left - 1, self._soonest[row])
        fits = self.needs[group.transitions[row].long()] <= most[:, None]
        # What is dead or over has its own row, of ends only.
        own = group.waiting(state) | group.is_final(state) | (row == 0)
        mask = (allowed[row] & (fits | own[:, None])).index_select(1, token_class)
        return logits.masked_fill_(~mask, float("-inf"))


def tokens_to_end(
    transitions: npt.NDArray[np.int32], over: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    """Return int32[states], the fewest tokens to a state that is ``over``.

    A search from the ends backwards, over transitions sorted by what they lead to.
    """
    count = len(transitions)
    sources, classes = np.nonzero(transitions > 0)
    edges = np.unique(transitions[sources, classes].astype(np.int64) * count + sources)
    starts = np.searchsorted(edges, np.arange(count + 1) * count)
    needs = np.full(count, _ENDLESS, np.int32)
    reached = np.flatnonzero(over)
    steps = 0
    while reached.size:
        needs[reached] = steps
        steps += 1
        into = np.concatenate([edges[starts[each] : starts[each + 1]] for each in reached]) % count
        reached = np.unique(into[needs[into] == _ENDLESS])
    return needs
