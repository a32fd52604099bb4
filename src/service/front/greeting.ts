/**
 * The page for a person who opens a surface in a browser. It has no scripts, loads nothing, and shows no part of the request except
 * its own address.
 */
import { hash } from 'node:crypto';
import { CONSOLE_ROOT } from '../console/console-files.ts';
import type { Exchange, Reply } from '../exchange.ts';
import type { Surface, SurfaceName } from '../surface.ts';
import { DOCUMENTS, describedBy } from './paths.ts';

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; border-radius: .25rem; }
code, pre { font: .9rem/1.5 ui-monospace, monospace; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Example requests for each surface (path and query), which work with a token. */
const QUESTIONS: Readonly<Record<SurfaceName, readonly string[]>> = {
  api: ['/Reso/OData/Property?$top=2', '/v1/listings?_limit=2', '/Reso/OData/$metadata'],
  replication: ['/Reso/OData/Property?$top=2&$count=true', '/v1/listings?_limit=2', '/Reso/OData/$metadata'],
  floorplans: ['/Reso/Media?$top=1', '/Reso/$metadata'],
  admin: ['/ready', '/status', '/keys'],
};

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A text, quoted as one word of a shell command. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const link = (address: string, name = address): string =>
  `<a href="${escaped(address)}">${escaped(name)}</a>`;

function rootsOf({ resoRoot, nativeRoot }: Surface, base: string): string {
  const rows = [
    ['RESO Web API (OData 4.01)', resoRoot],
    ['Native v1', nativeRoot],
  ] as const;
  return rows
    .flatMap(([name, root]) =>
      root === undefined ? [] : [`<dt>${name}</dt><dd><code>${escaped(base + root)}</code></dd>`],
    )
    .join('\n');
}

const createKeyCommand = ({ keyKind }: Surface): string =>
  `plat key create --store STORE --name "Name of its owner" --kind ${keyKind}${keyKind === 'floorplans' ? ' --system SYSTEM' : ''}`;

export function greeting({ base, surface }: Pick<Exchange, 'base' | 'surface'>): Reply {
  const roots = rootsOf(surface, base);
  const curls = QUESTIONS[surface.name].map(
    (question) => `curl -H "Authorization: Bearer $TOKEN" ${quoted(base + question)}`,
  );
  const metadata = surface.resoRoot === undefined ? undefined : `${base}${surface.resoRoot}$metadata`;
  const documents = DOCUMENTS.map((each) => `<li>${link(`${base}/documents/${each}`, each)}</li>`);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(surface.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(surface.title)}</h1>
${roots === '' ? '' : `<h2>Service roots</h2>\n<dl>\n${roots}\n</dl>`}
${surface.name === 'admin' ? `<p>${link(`${base}${CONSOLE_ROOT}/`, 'Open the console')}, which shows the content and the health of the service.</p>` : ''}
<h2>Token</h2>
<p>Every request needs a token. The operator of this service creates it with this command, which prints it only once:</p>
<pre>${escaped(createKeyCommand(surface))}</pre>
<p>Send it as <code>Authorization: Bearer</code>, or as the password of <code>Basic</code> with any user name.</p>
<h2>Example requests</h2>
<pre>TOKEN=…
${curls.map(escaped).join('\n')}</pre>
<h2>Documentation</h2>
<ul>
<li>${link(`${base}/openapi.json`, 'openapi.json')} describes every path; requested with a token, it contains the fields that the key may see</li>
${metadata === undefined ? '' : `<li>${link(metadata, '$metadata')} describes the RESO interface; it requires a token</li>`}
${documents.join('\n')}
</ul>
</main>
</body>
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    ...describedBy(base),
  };
  return { status: 200, headers, body: [page] };
}
