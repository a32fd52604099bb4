/** The frame of the console: the log-in, the navigation, and the page of the current address. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Loading, Problem } from '../parts/states.tsx';
import { type About, logOut, resume, session } from './api.ts';
import { Brand } from './brand.tsx';
import { isAway, returns } from './connection.ts';
import { listen, present } from './live.ts';
import { LogInPage } from './log-in.tsx';
import { PAGES } from './pages.ts';
import { link, open, path, ROOT } from './route.ts';

export function App() {
  const [problem, setProblem] = useState<unknown>();
  const find = () => {
    resume().then(() => setProblem(undefined), setProblem);
  };
  const returned = returns.value;
  // A service that was restarted may have lost its sessions.
  useEffect(find, [returned]);
  switch (session.value) {
    case undefined:
      return (
        <main id="main" class="log-in">
          <Brand />
          {problem === undefined ? <Loading what="the console" /> : <Problem error={problem} again={find} />}
        </main>
      );
    case 'none':
    case 'ended':
      return <LogInPage hasEnded={session.value === 'ended'} />;
    default:
      return <Frame about={session.value} />;
  }
}

/** Opens links to pages of the console without reloading the page. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target instanceof Element ? event.target.closest('a') : null;
  if (anchor === null || anchor.target !== '' || anchor.origin !== location.origin) return;
  if (!anchor.pathname.startsWith(`${ROOT}/`) || anchor.hasAttribute('download')) return;
  if (anchor.hash !== '') return;
  event.preventDefault();
  open(anchor.pathname + anchor.search);
}

/** Moves the scroll position and the focus to the top when another page is opened; within a page, both stay. */
function useFocusOfPage(): void {
  const here = path.value.join('/');
  const before = useRef(here);
  useEffect(() => {
    if (before.current === here) return;
    before.current = here;
    document.getElementById('main')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [here]);
}

function Frame({ about }: { readonly about: About }) {
  const [name = 'explore'] = path.value;
  const page = PAGES.find((each) => each.name === name);
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · plat`;
  }, [page]);
  useEffect(listen, []);
  useFocusOfPage();
  return (
    // biome-ignore lint/a11y: people use the links inside; this only keeps the page from being reloaded
    <div class="frame" onClick={follow}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Brand />
        <Navigation name={name} />
        <span class="of-store" title={about.store}>
          {about.owner === 'authority' ? '' : 'Replica '}
          {about.store.split('/').at(-1)}
        </span>
        <button type="button" class="quiet" onClick={() => void logOut()}>
          Log out
        </button>
      </header>
      <Away />
      <main id="main" tabIndex={-1}>
        {page === undefined ? <NotFound /> : <page.Page />}
      </main>
    </div>
  );
}

/** The pages, side by side or, on a narrow screen, in a menu below a button with the name of the current page. */
function Navigation({ name }: { readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  const nav = useRef<HTMLElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const listed = PAGES.filter(({ isListed }) => isListed);
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const closeByKey = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    const closeOutside = ({ target }: Event): void => {
      if (target instanceof Node && nav.current?.contains(target) !== true) setOpen(false);
    };
    const events = ['pointerdown', 'focusin'] as const;
    document.addEventListener('keydown', closeByKey);
    for (const each of events) document.addEventListener(each, closeOutside);
    return () => {
      document.removeEventListener('keydown', closeByKey);
      for (const each of events) document.removeEventListener(each, closeOutside);
    };
  }, [isOpen]);
  return (
    <nav ref={nav} aria-label="Pages" class={isOpen ? 'is-open' : undefined}>
      <button
        ref={button}
        type="button"
        class="menu quiet"
        aria-expanded={isOpen}
        aria-controls="pages"
        onClick={() => setOpen(!isOpen)}
      >
        {listed.find((each) => each.name === name)?.title ?? 'Pages'}
      </button>
      <ul id="pages">
        {listed.map((each) => (
          <li key={each.name}>
            <a
              href={link([each.name])}
              aria-current={each.name === name ? 'page' : undefined}
              onClick={() => setOpen(false)}
            >
              {each.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The message while the service or its store is unavailable. */
function Away() {
  const text = isAway.value
    ? 'The service cannot be reached. This page tries again by itself.'
    : present.value === 'away'
      ? 'The store of the service cannot be used at the moment. This page tries again by itself.'
      : '';
  return <output class="away">{text}</output>;
}

const NotFound = () => (
  <section class="state empty">
    <h1>There is no such page</h1>
    <p>
      <a href={link(['explore'])}>Explore the listings</a>
    </p>
  </section>
);
