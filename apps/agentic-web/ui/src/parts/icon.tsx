// Drawn, because not every font has such signs.
const PATHS = { menu: 'M3 5h14M3 10h14M3 15h14', close: 'M5 5l10 10M15 5L5 15', down: 'M10 4v12M5 11l5 5 5-5' }

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
