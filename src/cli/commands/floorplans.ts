import type { Command } from 'commander';
import { downloadImage, floorPlans } from '../../replica/floorplans/client.ts';
import { systemClock } from '../../store/clock.ts';
import { applyConfig, CONFIG_OPTION, option, required } from '../options.ts';
import { reportLines, writeJson } from '../terminal.ts';

export function addFloorplansCommand(program: Command): void {
  program
    .command('floorplans')
    .description(
      'the floor plan records of one listing or of a whole system, as NDJSON; --out also gets the images',
    )
    .addOption(CONFIG_OPTION())
    .addOption(required('--from <url>', 'root of the floor plan service, …/Reso'))
    .addOption(required('--token <token>', 'floor plan access token'))
    .addOption(required('--system <OUID>', 'originating system'))
    .addOption(option('--listing <key>', 'only this listing'))
    .addOption(option('--out <dir>', 'folder for the images'))
    .action(async (_options, command: Command) => {
      applyConfig(command);
      const { from, token, system, listing, out } = command.opts();
      const source = { root: from, token, clock: systemClock };
      let records = 0;
      let images = 0;
      for await (const record of floorPlans(source, system, listing)) {
        writeJson(record);
        records++;
        if (out !== undefined && (await downloadImage(source, record, out)) !== undefined) images++;
      }
      reportLines(`${records} floor plan records${out === undefined ? '' : `, ${images} images in ${out}`}`);
    });
}
