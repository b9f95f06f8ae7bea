"""AsyncManifest: a saved listing, for tasks."""

from __future__ import annotations

from ._manifest import SavedListing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._listing import Listing
    from ._manifest import Changes
    from ._progress import Progress


class AsyncManifest(SavedListing):
    """A saved listing. Opening reads no rows; those that are asked for are checked then.

    Its length is the number of rows. A file must stay as it is while it is in use. Immutable; any
    number of tasks, on any threads, and a forked child, too. Made by AsyncClient.open_manifest().
    """

    __slots__ = ()

    async def rows(self, first: int = 0, count: int | None = None) -> Listing:
        """Rows from `first` on, `count` of them at most, None = all, as a Listing without a copy. It
        may outlive the manifest.

        Raises: as of Manifest.rows().
        """
        found: Listing = await self._client._run(self._rows(first, count))
        return found

    async def refresh(self, *, parallelism: int = 0, timeout: float | None = None,
                      progress: Progress = None) -> Changes:
        """Lists again what the manifest lists, and compares. The manifest stays as it is: save
        `changes.listing` for a new one.

        Arguments: as of Manifest.refresh().
        """
        found: Changes = await self._client._run(
            self._refresh(parallelism, timeout, progress))
        return found
