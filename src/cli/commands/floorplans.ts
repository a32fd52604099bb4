import type { Command } from 'commander';
import { usageError } from '../../errors/index.ts';
import { environmentOf } from '../../replica/environment.ts';
import { fetchFloorPlans } from '../../replica/floorplans/client.ts';
import { ImageFolder } from '../../replica/floorplans/images.ts';
import { rootOf } from '../../replica/run/options.ts';
import { addOptions, applyConfig, CONFIG_OPTION, option, required } from '../options.ts';
import { EXIT } from '../output.ts';
import { replicaScreen } from '../replica-screen.ts';
import { onShutdown } from '../shutdown.ts';
import { requiredTokens, tokenOptions } from '../source-options.ts';
import { reportLines, writeJson } from '../terminal.ts';

interface FloorplansSettings {
  readonly from: string;
  readonly system: string;
  readonly listing?: string;
  readonly out?: string;
  readonly mediaPrivateHosts?: boolean;
}

export function defineFloorplans(floorplans: Command): void {
  addOptions(
    floorplans,
    CONFIG_OPTION(),
    required('--from <url>', 'root of the floor plan service, …/Reso'),
    ...tokenOptions('floor plan access token'),
    required('--system <OUID>', 'originating system'),
    option('--listing <key>', 'only this listing'),
    option('--out <dir>', 'folder for the images'),
    option('--media-private-hosts', 'also download images from private networks'),
  ).action(async (_options, command: Command) => {
    await applyConfig(command);
    const settings: FloorplansSettings = command.opts();
    if (Array.isArray(settings.system)) {
      const reason =
        '"system" of plat.config.json is a list; plat floorplans reads one originating system, as of --system.';
      throw usageError(reason);
    }
    const tokens = await requiredTokens(command);
    const { system, listing, out, mediaPrivateHosts = false } = settings;
    const { signal } = onShutdown();
    const root = rootOf(settings.from);
    const { environment, close } = environmentOf(undefined);
    const listener = replicaScreen(root.host).show;
    const egress = mediaPrivateHosts ? 'any' : 'public';
    const images =
      out === undefined ? undefined : new ImageFolder({ environment, signal, folder: out, root, egress });
    const counts = { none: 0, stored: 0, failed: 0 };
    let records = 0;
    let keyless = 0;
    const onKeyless = (record: unknown): void => {
      keyless++;
      reportLines(`A record has no MediaKey: ${JSON.stringify(record)}`);
    };
    try {
      for await (const record of fetchFloorPlans(
        { root, tokens, environment, listener, signal, onKeyless },
        system,
        listing,
      )) {
        writeJson(record);
        records++;
        const outcome = (await images?.download(record)) ?? { kind: 'none' };
        counts[outcome.kind]++;
        if (outcome.kind === 'failed') reportLines(`${record.MediaKey}: ${outcome.reason}`);
      }
    } finally {
      await close();
    }
    const failed = counts.failed > 0 ? `, ${counts.failed} could not be fetched` : '';
    const fetched = out === undefined ? '' : `, ${counts.stored} images in ${out}${failed}`;
    const omitted = keyless > 0 ? `, ${keyless} more without a MediaKey` : '';
    reportLines(`${records} floor plan records${omitted}${fetched}`);
    if (counts.failed + keyless > 0) process.exitCode = EXIT.failed;
  });
}
