/**
 * The photos of a listing: one large, and all of them as thumbnails. Photos on other hosts are links, since the console loads
 * nothing from other hosts.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { change, query } from '../../app/route.ts';
import { atWidth, FileLink, servedAddress } from '../../parts/files.tsx';
import {
  type Fields,
  isPhoto,
  type ListingRecord,
  mediaOf,
  nameOfMedia,
  textOf,
} from '../../parts/listing-record.ts';
import { Empty } from '../../parts/states.tsx';

export function Photos({ record }: { readonly record: ListingRecord }) {
  const photos = mediaOf(record, isPhoto).map((media) => ({
    media,
    name: nameOfMedia(media),
    served: servedAddress(media.MediaURL, record),
  }));
  const shown = photos.flatMap(({ media, name, served }) =>
    served === undefined ? [] : [{ media, name, served }],
  );
  const elsewhere = photos.filter(({ served }) => served === undefined);
  if (photos.length === 0) return <Empty title="There are no photos" />;
  return (
    <>
      {shown.length === 0 ? null : <Gallery photos={shown} />}
      {elsewhere.length === 0 ? null : (
        <>
          <p class="hint">Photos on other hosts are not loaded here:</p>
          <ul class="files">
            {elsewhere.map(({ media, name }) => (
              <li key={media.MediaKey}>
                <FileLink address={media.MediaURL} served={undefined}>
                  {name}
                </FileLink>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

interface Shown {
  readonly media: Fields;
  readonly name: string;
  readonly served: string;
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_at, last) => last,
};

function Gallery({ photos }: { readonly photos: readonly Shown[] }) {
  const gallery = useRef<HTMLDivElement>(null);
  const stage = useRef<HTMLElement>(null);
  const last = photos.length - 1;
  const wanted = Number(query.value.get('photo') ?? 1) - 1;
  const at = Number.isInteger(wanted) ? Math.min(last, Math.max(0, wanted)) : 0;
  const photo = photos[at];
  const show = (next: number) => {
    const within = Math.min(last, Math.max(0, next));
    change({ photo: within === 0 ? undefined : String(within + 1) }, true);
  };
  // Arrow keys move through the photos, whichever button has the focus. Keys may follow each other faster than frames, so
  // the listener knows the photo of the last key, not that of the last frame.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const step = STEPS[event.key];
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      show(step(at, last));
    };
    const element = gallery.current;
    element?.addEventListener('keydown', onKeyDown);
    return () => element?.removeEventListener('keydown', onKeyDown);
  });
  const fill = () => {
    if (document.fullscreenElement === null) void stage.current?.requestFullscreen();
    else void document.exitFullscreen();
  };
  if (photo === undefined) return null;
  return (
    <div class="gallery" ref={gallery}>
      <figure class="stage" ref={stage}>
        <Picture key={photo.served} address={atWidth(photo.served, 1280)} name={photo.name} />
        <figcaption>
          <button type="button" class="quiet" disabled={at === 0} onClick={() => show(at - 1)}>
            Previous
          </button>
          <span aria-live="polite">
            {at + 1} of {photos.length}: {photo.name}
          </span>
          <button type="button" class="quiet" disabled={at === last} onClick={() => show(at + 1)}>
            Next
          </button>
          <button type="button" class="quiet" onClick={fill}>
            Full screen
          </button>
        </figcaption>
      </figure>
      <ul class="thumbs" aria-label="All photos">
        {photos.map(({ media, name, served }, index) => (
          <li key={media.MediaKey}>
            <button
              type="button"
              aria-label={`Photo ${index + 1}: ${name}`}
              aria-current={index === at ? 'true' : undefined}
              onClick={() => show(index)}
            >
              <img src={atWidth(served, 150)} alt="" loading="lazy" />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A photo, or a message if it cannot be loaded. */
function Picture({ address, name }: { readonly address: string; readonly name: string }) {
  const [isBroken, setBroken] = useState(false);
  return isBroken ? (
    <p class="problem stage-problem">This photo cannot be shown.</p>
  ) : (
    <img src={address} alt={name} onError={() => setBroken(true)} />
  );
}

/** Videos, tours, documents and all other media that are not photos or plans. */
export function OtherFiles({
  record,
  files,
}: {
  readonly record: ListingRecord;
  readonly files: readonly Fields[];
}) {
  return (
    <ul class="files">
      {files.map((media) => (
        <li key={media.MediaKey}>
          <FileLink address={media.MediaURL} served={servedAddress(media.MediaURL, record)}>
            {nameOfMedia(media)}
          </FileLink>{' '}
          <span class="hint-inline">
            {[textOf(media, 'MediaCategory'), textOf(media, 'MediaType')].filter(Boolean).join(', ')}
          </span>
        </li>
      ))}
    </ul>
  );
}
