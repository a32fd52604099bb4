import { type Command, Option } from 'commander';
import { downloadImage, floorPlans } from '../../replica/floorplans/client.ts';
import { systemClock } from '../../store/clock.ts';
import { applyConfig, CONFIG_OPTION, option } from '../options.ts';

export function addFloorplansCommand(program: Command): void {
  program
    .command('floorplans')
    .description(
      'the floor plan records of one listing or of a whole system, as NDJSON; --out also gets the images',
    )
    .addOption(CONFIG_OPTION())
    .addOption(option('--from <url>', 'root of the floor plan service, …/Reso').makeOptionMandatory())
    .addOption(option('--token <token>', 'floor plan access token').makeOptionMandatory())
    .addOption(new Option('--system <OUID>', 'originating system').makeOptionMandatory())
    .addOption(new Option('--listing <key>', 'only this listing'))
    .addOption(new Option('--out <dir>', 'folder for the images'))
    .action(async (_options, command: Command) => {
      applyConfig(command);
      const { from, token, system, listing, out } = command.opts();
      const source = { root: from, token, clock: systemClock };
      let records = 0;
      let images = 0;
      for await (const record of floorPlans(source, system, listing)) {
        process.stdout.write(`${JSON.stringify(record)}\n`);
        records++;
        if (out !== undefined && (await downloadImage(source, record, out)) !== undefined) images++;
      }
      process.stderr.write(
        `${records} floor plan records${out === undefined ? '' : `, ${images} images in ${out}`}\n`,
      );
    });
}
