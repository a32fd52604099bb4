/** The frame of the console: log-in, navigation, and the page that the address names. */
import { useEffect, useState } from 'preact/hooks';
import { Loading, Problem } from '../parts/states.tsx';
import { logOut, resume, session } from './api.ts';
import { LogInPage } from './log-in.tsx';
import { PAGES } from './pages.ts';
import { link, open, path, ROOT } from './route.ts';

export function App() {
  const [problem, setProblem] = useState<unknown>();
  const find = () => {
    setProblem(undefined);
    resume().catch(setProblem);
  };
  useEffect(find, []);
  if (problem !== undefined) return <Problem error={problem} again={find} />;
  switch (session.value) {
    case undefined:
      return <Loading what="the console" />;
    case 'none':
      return <LogInPage />;
    default:
      return <Frame />;
  }
}

/** Links of the console open without loading the page anew. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  const anchor = event.target instanceof Element ? event.target.closest('a') : null;
  if (anchor === null || anchor.target !== '' || anchor.origin !== location.origin) return;
  if (!anchor.pathname.startsWith(`${ROOT}/`) || anchor.hasAttribute('download')) return;
  event.preventDefault();
  open(anchor.pathname + anchor.search);
  document.getElementById('main')?.focus();
  scrollTo(0, 0);
}

function Frame() {
  const [name = 'explore'] = path.value;
  const page = PAGES.find((each) => each.name === name);
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · plat`;
  }, [page]);
  return (
    // biome-ignore lint/a11y: the links inside are what a person uses; this only keeps the page from loading anew
    <div class="frame" onClick={follow}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={`${ROOT}/`}>
          plat
        </a>
        <nav aria-label="Pages">
          <ul>
            {PAGES.filter(({ isListed }) => isListed).map((each) => (
              <li key={each.name}>
                <a href={link([each.name])} aria-current={each.name === name ? 'page' : undefined}>
                  {each.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <button type="button" class="quiet" onClick={() => void logOut()}>
          Log out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {page === undefined ? <NotFound /> : <page.Page />}
      </main>
    </div>
  );
}

const NotFound = () => (
  <section class="empty">
    <h1>There is no such page</h1>
    <p>
      <a href={link(['explore'])}>Explore the listings</a>
    </p>
  </section>
);
