import { DAY, dateText, HOUR, startOfDay, timestampText } from '../dates.ts';
import type { Random } from '../random.ts';
import { filled } from '../records.ts';
import type { FieldValues } from '../values.ts';
import type { Timeline } from './timeline.ts';

const SATURDAY = 6;

/** The first Saturday after a day. */
export function nextSaturday(time: number): number {
  const day = startOfDay(time);
  const ahead = (SATURDAY - new Date(day).getUTCDay() + 7) % 7;
  return day + (ahead === 0 ? 7 : ahead) * DAY;
}

/** An open house of two hours in the afternoon (local time is four or five hours behind UTC). */
export function openHouseRecord(
  listing: string,
  serial: number,
  day: number,
  agent: string,
  random: Random,
): FieldValues {
  const start = day + random.integer(16, 18) * HOUR;
  const key = `${listing}-O${serial.toString().padStart(2, '0')}`;
  return filled({
    OpenHouseKey: key,
    OpenHouseId: key.slice(-15),
    ListingKey: listing,
    OpenHouseDate: dateText(day),
    OpenHouseStartTime: timestampText(start),
    OpenHouseEndTime: timestampText(start + 2 * HOUR),
    OpenHouseType: random.chance(0.85) ? 'Public' : 'Broker',
    OpenHouseStatus: 'Active',
    OpenHouseAttendedBy: 'Agent',
    OpenHouseRemarks: random.chance(0.6)
      ? random.pick([
          'Park on the street.',
          'Enter by the front door.',
          'Plans of the house are on the table.',
        ])
      : undefined,
    Refreshments: random.chance(0.3) ? random.pick(['Coffee', 'Cider and doughnuts', 'Lemonade']) : undefined,
    AppointmentRequiredYN: false,
    ShowingAgentKey: agent,
  });
}

/** Draws the coming open houses of a listing that is for sale. */
export function drawOpenHouses(
  listing: string,
  agent: string,
  { status }: Timeline,
  now: number,
  random: Random,
): FieldValues[] {
  if (status !== 'Active' || !random.chance(0.22)) return [];
  const saturday = nextSaturday(now);
  const days = random.pick([[saturday], [saturday + DAY], [saturday, saturday + DAY], [saturday + 7 * DAY]]);
  return days.map((day, index) => openHouseRecord(listing, index + 1, day, agent, random));
}
