/** The dashboard and the alerts of `deploy/` use metrics and labels that `/metrics` exposes. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { serveReplicaAdmin } from '../../src/cli/replica-admin.ts';
import { addReadStoreGauges } from '../../src/service/gauges.ts';
import { makeMetrics } from '../../src/service/metrics.ts';
import { place } from '../cli/run.ts';
import { ANY_PORT, addressesOf } from '../cli/serving.ts';
import { listing } from '../support/builders.ts';
import { freePort } from '../support/free-port.ts';
import { startTestService } from '../support/service.ts';
import { temporaryFile } from '../support/temporary.ts';
import { DEPLOY, deployed, replaced, unlessHere, whereIs } from './tools.ts';

interface Query {
  readonly title: string;
  readonly expr: string;
  readonly legend: string;
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface PrometheusAnswer {
  readonly status: string;
  readonly data: { readonly result: readonly unknown[] };
}
interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(deployed('grafana.json'));
const rules: { readonly groups: readonly { readonly rules: readonly Rule[] }[] } = parse(
  deployed('alerts.yml'),
);
/** Replaces Grafana's variables. */
const filledIn = (expr: string): string => expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*');
const panels: readonly Query[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr: filledIn(expr), legend: legendFormat })),
);
const alerts: readonly Query[] = rules.groups.flatMap((group) =>
  group.rules.map(({ alert, expr, annotations }) => ({
    title: alert,
    expr,
    legend: Object.values(annotations).join(' '),
  })),
);
const queries = [...panels, ...alerts];

/** The names of all metrics in a text, and the labels of their samples. */
function readMetrics(text: string) {
  const names = new Set<string>();
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const part of parts) names.add(`${name}${part}`);
  }
  const labels = new Map<string, Set<string>>();
  for (const [, name = '', given = ''] of text.matchAll(/^(\w+)(?:\{([^}]*)\})? /gm)) {
    const known = labels.get(name) ?? new Set();
    for (const [, label = ''] of given.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(name, known);
  }
  return { names, labels };
}

async function allMetrics(): Promise<string> {
  const service = await startTestService(
    { after },
    { fill: async ({ write }) => void (await write('Property', listing('1', {}))) },
  );
  const token = await service.key('api');
  await service.get('api', '/v1/listings', { token });
  const own = await service.get('admin', '/metrics');
  const watch = await serveReplicaAdmin('source', { host: '127.0.0.1', port: 0 });
  after(() => watch.close());
  watch.count({ kind: 'failed', step: 'update', reason: 'away', wait: 1 });
  const replica = await fetch(`${watch.address}/metrics`);
  const standbys = makeMetrics();
  addReadStoreGauges(standbys, { readStores: () => [{ name: 'standby', used: true, reads: 1 }] });
  return `${own.text}${await replica.text()}${await standbys.text()}`;
}

test('the service or the replicator exposes every metric and label of the dashboard and the alerts', async () => {
  const { names, labels } = readMetrics(await allMetrics());
  assert.ok(panels.length > 30 && alerts.length === 11);
  const ofPrometheus = new Set(['job', 'instance', 'le', 'value']);
  const unseen = new Set<string>();
  for (const { title, expr, legend } of queries) {
    const named = [...expr.matchAll(/\b(?:plat|process|nodejs)_\w+/g)].map(([name]) => name);
    if (!expr.startsWith('up{')) assert.ok(named.length > 0, title);
    const asked = [
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...expr.matchAll(/(\w+)(?:=~|=)"/g)].map(([, label = '']) => label),
      ...[...legend.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = '']) => label),
    ].filter((label) => !ofPrometheus.has(label));
    for (const name of named) {
      assert.ok(names.has(name), `${title}: ${name}`);
      const given = labels.get(name);
      if (given === undefined) unseen.add(name);
      else for (const label of asked) assert.ok(given.has(label), `${title}: ${name} has no ${label}`);
    }
  }
  // These have no samples here, so their labels cannot be checked.
  assert.deepEqual([...unseen].toSorted(), [
    'plat_budget_refusals_total',
    'plat_clients_cut_total',
    'plat_connections_closed_total',
    'plat_replica_deleted_total',
    'plat_replica_lag_seconds',
    'plat_replica_records',
    'plat_replica_rows_total',
    'plat_webhooks',
  ]);
});

test(
  'promtool accepts the configuration, the alerts and every query, and the alerts fire as expected',
  {
    skip: unlessHere('promtool', 'prometheus'),
  },
  () => {
    const folder = temporaryFile('');
    mkdirSync(folder);
    const record = panels.map(({ expr }, index) => ({ record: `query_${index}`, expr }));
    // JSON is valid YAML.
    writeFileSync(
      join(folder, 'queries.yml'),
      JSON.stringify({ groups: [{ name: 'panels', rules: record }] }),
    );
    const run = (...args: readonly string[]): string =>
      execFileSync(whereIs('promtool') ?? '', args, { cwd: DEPLOY, encoding: 'utf8' });
    assert.match(run('check', 'config', 'prometheus.yml'), /SUCCESS: 11 rules found/);
    assert.match(
      run('check', 'rules', join(folder, 'queries.yml')),
      new RegExp(`SUCCESS: ${panels.length} rules found`),
    );
    // Two services, one of which goes down while the other fails one request in ten, and a replica that falls behind.
    const tests = {
      rule_files: [join(DEPLOY, 'alerts.yml')],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [
            { series: 'up{job="plat",instance="a"}', values: '1x40' },
            { series: 'up{job="plat",instance="b"}', values: '1x5 0x40' },
            { series: 'plat_ready{job="plat",instance="a"}', values: '1x40' },
            { series: 'plat_requests_total{job="plat",surface="api",status="200"}', values: '0+90x40' },
            { series: 'plat_requests_total{job="plat",surface="api",status="503"}', values: '0+10x40' },
            {
              series: 'plat_requests_total{job="plat",surface="replication",status="200"}',
              values: '0+90x40',
            },
            { series: 'plat_replica_lag_seconds{instance="c",resource="Property"}', values: '7000+60x40' },
          ],
          alert_rule_test: [
            { eval_time: '5m', alertname: 'PlatDown', exp_alerts: [] },
            {
              eval_time: '30m',
              alertname: 'PlatDown',
              exp_alerts: [
                {
                  exp_labels: { severity: 'critical', job: 'plat', instance: 'b' },
                  exp_annotations: {
                    summary: 'b has no metrics',
                    description: 'The process is down, or its admin port cannot be reached.',
                  },
                },
              ],
            },
            { eval_time: '30m', alertname: 'PlatNotReady', exp_alerts: [] },
            {
              eval_time: '30m',
              alertname: 'PlatErrors',
              exp_alerts: [
                {
                  exp_labels: { severity: 'critical', job: 'plat', surface: 'api' },
                  exp_annotations: {
                    summary: 'api answers 10% of its requests with 5xx',
                    description:
                      '503 with Retry-After means that the store is unreachable or lags; each 500 is logged.',
                  },
                },
              ],
            },
            { eval_time: '12m', alertname: 'PlatReplicaLags', exp_alerts: [] },
            {
              eval_time: '30m',
              alertname: 'PlatReplicaLags',
              exp_alerts: [
                {
                  exp_labels: { severity: 'warning', instance: 'c', resource: 'Property' },
                  exp_annotations: {
                    summary: 'the copy of Property is 2h 26m 40s old',
                    description:
                      'The source is unreachable or slow, or its responses cannot be read; "plat status" shows which step failed.',
                  },
                },
              ],
            },
          ],
        },
      ],
    };
    writeFileSync(join(folder, 'tests.yml'), JSON.stringify(tests));
    assert.match(run('test', 'rules', join(folder, 'tests.yml')), /SUCCESS/);
  },
);

const skipLive =
  process.env.PLAT_FULL === '1' ? unlessHere('prometheus') : 'takes half a minute; npm run test:full';

test(
  'a real Prometheus with the configuration returns data for every query of the dashboard, and no alert fires',
  { skip: skipLive },
  async (t) => {
    const at = place(t);
    at.file(
      'l.ndjson',
      Array.from({ length: 50 }, (_, index) => ({ ListingKey: String(index), StandardStatus: 'Active' })),
    );
    await at.done(['import', '--store', 'm.db', 'l.ndjson']);
    const token = (await at.done(['key', 'create', '--store', 'm.db', '--name', 'a'])).trimEnd();
    const serving = await addressesOf(
      at.start(['serve', '--store', 'm.db', '--log-level', 'silent', ...ANY_PORT]),
    );
    const { replication = '', admin = '' } = serving;
    const replicaPort = await freePort();
    const from = ['--from', `${replication}/Reso/OData`, '--interface', 'reso', '--token', token];
    at.start(['replicate', '--watch', '--store', 'r.db', ...from, '--admin-port', String(replicaPort)]);

    const folder = temporaryFile('');
    mkdirSync(folder);
    const config = replaced(deployed('prometheus.yml'), {
      'scrape_interval: 15s': 'scrape_interval: 1s',
      'plat:8083': new URL(admin).host,
      'replica:8084': `127.0.0.1:${replicaPort}`,
      'replica-service:8083': new URL(admin).host,
      'alerts.yml': join(DEPLOY, 'alerts.yml'),
    });
    writeFileSync(join(folder, 'prometheus.yml'), config);
    const port = await freePort();
    const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
    const prometheus = spawn(
      whereIs('prometheus') ?? '',
      [...args, `--web.listen-address=127.0.0.1:${port}`],
      {
        stdio: 'ignore',
      },
    );
    t.after(() => prometheus.kill('SIGKILL'));

    const answers = async (expr: string): Promise<number> => {
      const body = new URLSearchParams({ query: expr });
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/query`, { method: 'POST', body });
      const { status, data }: PrometheusAnswer = JSON.parse(await response.text());
      assert.equal(status, 'success', expr);
      return data.result.length;
    };
    // Queries without data: no client was refused or disconnected, no record was deleted, and there is no standby.
    const nothingOf = /refusals|_cut_|_closed_|read_stores|replica_deleted/;
    let missing: readonly Query[] = panels.filter(({ expr }) => !nothingOf.test(expr));
    assert.ok(missing.length > 25);
    for (let tries = 0; missing.length > 0; tries++) {
      assert.ok(tries < 40, `without data: ${missing.map(({ expr }) => expr).join('\n')}`);
      const headers = { authorization: `Bearer ${token}` };
      await fetch(`${replication}/v1/listings`, { headers });
      await fetch(`${replication}/v1/wrong`, { headers });
      await sleep(500);
      const counted = missing.map(async (query) =>
        (await answers(query.expr).catch(() => 0)) === 0 ? [query] : [],
      );
      missing = (await Promise.all(counted)).flat();
    }
    for (const { expr, title } of alerts) assert.equal(await answers(expr), 0, title);
  },
);
