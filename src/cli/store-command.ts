/**
 * The common part of commands that read or change something in a store, such as its keys. This module does not know what the
 * commands do.
 */
import type { Command, Option, OptionValues } from 'commander';
import type { StoreModel } from '../compile/model.ts';
import type { Store } from '../store/store.ts';
import { withStore } from './open-store.ts';
import { addOptions, applyConfig, CONFIG_OPTION, STORE_OPTION } from './options.ts';

interface Opening {
  /** Whether the settings of the configuration are applied to the store, for commands that depend on them. */
  readonly isConfigured?: boolean;
  /** Whether a missing store is created, with the settings of the configuration. */
  readonly create?: boolean;
  /** Called before a store is created, to reject values that cannot apply to a new store. @throws PlatError `usage` */
  readonly beforeCreation?: (model: StoreModel, given: OptionValues) => void;
}

/** A command about one object of a store, such as a key, which the user names by its id. */
export const idCommand = (parent: Command, name: string, description: string): Command =>
  parent.command(name).description(description).argument('<id>', `as "${parent.name()} list" shows it`);

/**
 * Makes a command open a store, do something with it, and close it.
 * @param options options in addition to those for the store and the configuration
 * @param action receives the values of all options, then the arguments
 */
export function defineStoreAction<Arguments extends readonly unknown[]>(
  command: Command,
  options: readonly Option[],
  action: (store: Store, given: OptionValues, ...words: Arguments) => Promise<void>,
  { isConfigured = false, create = false, beforeCreation }: Opening = {},
): void {
  addOptions(command, STORE_OPTION(), CONFIG_OPTION(), ...options).action(async (...words: Arguments) => {
    const config = await applyConfig(command);
    const given = command.opts();
    const opening = {
      create,
      config: isConfigured || create ? config : undefined,
      allowClockJump: given.allowClockJump,
      beforeCreation: (model: StoreModel) => beforeCreation?.(model, given),
    };
    await withStore(given.store, opening, (store) => action(store, given, ...words));
  });
}
