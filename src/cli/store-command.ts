/** The frame of commands that read or change something in a store, such as its keys. It does not know what they do. */
import type { Command, Option, OptionValues } from 'commander';
import type { StoreModel } from '../compile/model.ts';
import type { Store } from '../store/store.ts';
import { withStore } from './open-store.ts';
import { addOptions, applyConfig, CONFIG_OPTION, JSON_OPTION, STORE_OPTION } from './options.ts';

/**
 * How the store is opened: as it is; with the settings of the configuration applied, for commands that depend on them; or created
 * if it does not exist.
 */
type Opening = 'as it is' | 'configured' | 'created';

interface StoreCommand {
  readonly name: string;
  readonly description: string;
  /** Options besides those for the store and the configuration. */
  readonly options?: readonly Option[];
  /** Default: `as it is`. */
  readonly opening?: Opening;
  /** Rejects what no new store can do, before one is created. @throws PlatError `usage` */
  readonly beforeCreation?: (model: StoreModel, given: OptionValues) => void;
}

/** Defines a command that opens a store, does something with it, and closes it. */
export function defineStoreCommand(
  parent: Command,
  { name, description, options = [], ...opening }: StoreCommand,
  action: (store: Store, given: OptionValues) => Promise<void>,
): void {
  const command = parent.command(name).description(description);
  addOptions(command, STORE_OPTION(), CONFIG_OPTION(), ...options).action(() =>
    run(command, opening, action),
  );
}

/** The same for a command about one object of the store, such as a key, which the user names by its id. */
export function defineIdCommand(
  parent: Command,
  { name, description, options = [], ...opening }: StoreCommand,
  action: (store: Store, id: string, given: OptionValues) => Promise<void>,
): void {
  const command = parent
    .command(name)
    .description(description)
    .argument('<id>', `as "${parent.name()} list" shows it`);
  addOptions(command, STORE_OPTION(), CONFIG_OPTION(), ...options, JSON_OPTION()).action((id: string) =>
    run(command, opening, (store, given) => action(store, id, given)),
  );
}

async function run(
  command: Command,
  { opening = 'as it is', beforeCreation }: Pick<StoreCommand, 'opening' | 'beforeCreation'>,
  action: (store: Store, given: OptionValues) => Promise<void>,
): Promise<void> {
  const config = await applyConfig(command);
  const given = command.opts();
  const settings = opening === 'as it is' ? {} : { config };
  await withStore(
    given.store,
    { create: opening === 'created', beforeCreation: (model) => beforeCreation?.(model, given), ...settings },
    (store) => action(store, given),
  );
}
