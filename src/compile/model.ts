/** The model of a store: the dictionary, access rules, profile and layouts that follow from its settings. */
import { type AccessRules, resolveAccess } from '../access/index.ts';
import {
  type Dictionary,
  declare,
  type Field,
  isFilledByStore,
  REPLICA_TIMESTAMP,
  type Resource,
  SOURCE_TIMESTAMP,
  standardDictionary,
  withReplicaTimestamp,
} from '../dictionary/index.ts';
import type { Profile } from '../records/profile.ts';
import { returnsOwnTimestamps, roleBitsOf, type StoreSettings } from '../records/settings.ts';
import { type ResourceLayout, resourceLayout } from './layout/index.ts';

/** Everything that reading and writing depend on, at one moment. A model never changes; it is replaced. */
export interface StoreModel {
  /** Counts changes of settings and profile. Processes with the same number use the same settings and profile. */
  readonly generation: number;
  /** Changes when the store goes back in time (store/time/store-clock.ts). */
  readonly epoch: string;
  readonly settings: StoreSettings;
  readonly profile: Profile;
  readonly dictionary: Dictionary;
  readonly rules: AccessRules;
  /** The UTC day that the rules apply to. */
  readonly day: string;
  /** The UTC day whose rules the stored visibility reflects. */
  readonly visibilityDay: string;
  readonly resource: (name: string) => Resource;
  readonly layout: (resource: string) => ResourceLayout;
  /** Whether a resource has tables: it is always published, or has had a record. */
  readonly stores: (resource: string) => boolean;
  readonly inUse: (field: Field) => boolean;
}

/** Fields that were in use and are no longer declared. Their values stay in the store in case the fields are declared again. */
export const dormantFields = ({ profile }: Pick<StoreModel, 'profile'>, resource: Resource): string[] =>
  [...(profile.since.get(resource.name)?.keys() ?? [])].filter((name) => !resource.fields.has(name));

/** The layouts of all resources that have tables. */
export const storedLayouts = ({ dictionary, stores, layout }: StoreModel): ResourceLayout[] =>
  [...dictionary.resources.keys()].filter(stores).map(layout);

/** The data from which a model is made. */
export interface ModelSource extends Pick<StoreModel, 'generation' | 'epoch' | 'settings' | 'profile'> {
  /** The `visibilityDay` of the model. */
  readonly day: string;
  /** The `day` of the model; absent: the same day. */
  readonly today?: string;
}

/** Whether the value of a field is stored with its own record. */
export function isStored(field: Field, settings: StoreSettings): boolean {
  return field.joined === undefined || settings.agentsFrom === 'payload';
}

/** The part of a model that depends only on the settings and the day. */
interface SettingsModel {
  readonly today: string;
  readonly dictionary: Dictionary;
  readonly rules: AccessRules;
}

/**
 * The models of the two most recently requested days: a store that is opened on a later day than its stored visibility needs both.
 * Profiles change far more often than settings.
 */
const settingsModels = new WeakMap<StoreSettings, readonly SettingsModel[]>();

function settingsModelOf(settings: StoreSettings, today: string): SettingsModel {
  const known = settingsModels.get(settings) ?? [];
  const same = known.find((each) => each.today === today);
  if (same !== undefined) return same;
  const dictionary = known[0]?.dictionary ?? dictionaryOf(settings);
  const made = { today, dictionary, rules: rulesOf(settings, dictionary, today) };
  settingsModels.set(settings, [made, ...known.slice(0, 1)]);
  return made;
}

const rulesOf = (settings: StoreSettings, dictionary: Dictionary, today: string): AccessRules =>
  resolveAccess(settings.access, dictionary, today, roleBitsOf(settings));

function dictionaryOf(settings: StoreSettings): Dictionary {
  const declared = declare(standardDictionary(), settings.declarations);
  const stamp = returnsOwnTimestamps(settings) ? SOURCE_TIMESTAMP : REPLICA_TIMESTAMP;
  return settings.owner === 'replica' ? withReplicaTimestamp(declared, stamp) : declared;
}

export function makeModel({
  generation,
  epoch,
  settings,
  profile,
  day,
  today = day,
}: ModelSource): StoreModel {
  const { dictionary, rules } = settingsModelOf(settings, today);
  const layouts = new Map<string, ResourceLayout>();
  const layout = (name: string): ResourceLayout =>
    resourceLayout({ resource: resource(name), dictionary, profile, settings, rules });
  const resource = (name: string): Resource => {
    const found = dictionary.resources.get(name);
    if (found === undefined) throw new Error(`The dictionary has no resource ${name}`);
    return found;
  };
  const inUse = (field: Field): boolean => {
    const { joined } = field;
    const of = dictionary.resources.get(field.resource);
    if (of?.fromChanges) return isFilledByStore(of, field);
    const [carrier, name] =
      joined === undefined || isStored(field, settings)
        ? [field.resource, field.name]
        : [joined.resource, joined.field];
    return profile.since.get(carrier)?.has(name) ?? false;
  };
  return {
    generation,
    epoch,
    settings,
    profile,
    dictionary,
    rules,
    day: today,
    visibilityDay: day,
    resource,
    inUse,
    stores: (name) => profile.since.has(name),
    layout: (name) => layouts.getOrInsertComputed(name, layout),
  };
}

/** Whether the stored visibility reflects the rules of the model. After midnight UTC it does not, until it is evaluated again. */
export const isVisibilityCurrent = ({
  day,
  visibilityDay,
}: Pick<StoreModel, 'day' | 'visibilityDay'>): boolean => day === visibilityDay;
