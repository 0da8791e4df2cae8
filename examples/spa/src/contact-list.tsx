// The table that the imports write to, the last rows first.
import type { Run } from '@coji/durably'
import { useEffect, useState } from 'react'
import { type Contact, readContacts } from './contacts.ts'

export function ContactList({ runs }: { runs: readonly Run[] }) {
  const contacts = useContacts(runs)
  return (
    <section className="card">
      <h2>
        Contacts <span className="count">{contacts.length}</span>
      </h2>
      <div className="scroll">
        <table aria-label="Contacts">
          <tbody>
            {contacts.map(({ id, name, email, city }) => (
              <tr key={id}>
                <td>{name}</td>
                <td>{email}</td>
                <td className="quiet">{city}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Reads the table again whenever a run has changed, in any tab. */
function useContacts(runs: readonly Run[]): Contact[] {
  const [contacts, setContacts] = useState<Contact[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the runs is the reason to read again
  useEffect(() => {
    let isLeft = false
    readContacts().then((contacts) => isLeft || setContacts(contacts), console.error)
    return () => {
      isLeft = true
    }
  }, [runs])
  return contacts
}
