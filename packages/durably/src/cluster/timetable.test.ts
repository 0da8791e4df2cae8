import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { NEVER_MS } from '../model/duration.ts'
import { iso } from '../model/env.ts'
import { timetableOf } from './timetable.ts'

const GUIDE = readFileSync(new URL('../../../../docs/guides/schedules.md', import.meta.url), 'utf8')
const ROW = /^\| `(\w+\/\w+)` \| `([^`]+)` \| `(\d{4})(-\d\d-\d\dT[\d:]+Z)` \| (`.+`) \|$/gm
const ROWS = Array.from(GUIDE.matchAll(ROW), ([, timezone = '', cron = '', year = '', from = '', times = '']) => ({
  ...{ timezone, cron, from: Date.parse(year + from) },
  times: Array.from(times.matchAll(/`([^`]+)`/g), ([, time]) => Date.parse(`${year}-${time}Z`)),
}))

describe('the table of time zones in the guide', () => {
  test('is read', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(11)
  })

  test.each(ROWS)('$timezone: $cron', ({ timezone, cron, from, times }) => {
    const timetable = timetableOf({ cron, everyMs: null, timezone })
    const found: string[] = []
    for (let at = from; found.length < times.length; ) {
      at = timetable.next(at)
      found.push(iso(at))
    }
    expect(found).toEqual(times.map(iso))
    const last = times.at(-1) ?? 0
    expect(timetable.latest(times.length, from, last).map(iso), 'read backwards').toEqual(times.map(iso))
    expect(timetable.latest(1, from, last - 1)).toEqual(times.slice(-2, -1))
  })
})

describe('an interval', () => {
  const hours = timetableOf({ cron: null, everyMs: 3_600_000, timezone: 'UTC' })
  const at = (hour: number) => hour * 3_600_000

  test('counts from 1970', () => {
    expect(hours.next(at(5))).toBe(at(6))
    expect(hours.next(at(5) - 1)).toBe(at(5))
  })

  test('has its last times in order, however many have passed', () => {
    expect(hours.latest(3, at(1), at(1_000_000))).toEqual([at(999_998), at(999_999), at(1_000_000)])
    expect(hours.latest(9, at(5) - 1, at(6) + 1)).toEqual([at(5), at(6)])
    expect(hours.latest(9, at(5) + 1, at(6) - 1)).toEqual([])
  })
})

test('what never comes is never', () => {
  expect(timetableOf({ cron: '0 0 30 2 *', everyMs: null, timezone: 'UTC' }).next(0)).toBe(NEVER_MS)
})
