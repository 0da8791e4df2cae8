// An API process of the fleet: answers, and executes nothing.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allowAll, durablyHandler, nodeListener } from '@coji/durably/server'
import { openMember } from './member.ts'

const { setup, durably } = openMember()
const handler = durablyHandler(durably, { authorize: allowAll(), basePath: '/api' })
const listener = nodeListener(handler)
const server = createServer((request, response) => {
  response.setHeader('x-served-by', setup.name)
  listener(request, response)
})
server.listen(0, '127.0.0.1', () => process.send?.({ type: 'ready', port: (server.address() as AddressInfo).port }))
