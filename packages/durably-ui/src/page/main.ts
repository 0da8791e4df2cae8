// The script of the page that `dashboardPage` makes: a dashboard over HTTP. The page says where the server is.
import { httpClient } from '@coji/durably/client'
import { httpClusterClient } from '@coji/durably/client/cluster'
import { createDashboard } from '../index.ts'

const url = document.querySelector<HTMLMetaElement>('meta[name=durably-api]')?.content ?? '/api'
document.body.append(createDashboard({ client: httpClient({ url }), cluster: httpClusterClient({ url }), routing: 'hash' }))
