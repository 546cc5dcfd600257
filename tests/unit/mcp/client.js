// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The official client: starts the server that the command line names, calls each tool once, and
// prints what it got as JSON.
//
// usage: node client.js PACKAGES CALLS COMMAND...   (CALLS: [[tool, arguments], ...])
const [, , packages, calls, command, ...args] = process.argv;
const load = require("module").createRequire(packages + "/");
const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");

async function main() {
	const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "pipe" });
	const client = new Client({ name: "test", version: "1" });
	await client.connect(transport);
	const got = {
		server: client.getServerVersion(),
		capabilities: client.getServerCapabilities(),
		instructions: client.getInstructions(),
		tools: (await client.listTools()).tools.map((tool) => tool.name),
		results: [],
		errors: [],
	};
	await client.ping();
	for (const [name, given] of JSON.parse(calls))
		try {
			got.results.push(await client.callTool({ name, arguments: given }));
		} catch (error) {
			got.errors.push([name, error.code]);
		}
	// A call that the client gives up: the server must answer the next one.
	const aborted = new AbortController();
	const query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
	const endless = client.callTool({ name: "sql", arguments: { query } }, undefined,
		{ signal: aborted.signal });
	setTimeout(() => aborted.abort(), 300);
	got.aborted = await endless.then(() => false, () => true);
	got.afterwards = await client.callTool({ name: "sql", arguments: { query: "SELECT 7" } });
	await client.close();
	console.log(JSON.stringify(got));
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
