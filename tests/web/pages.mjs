// SPDX-License-Identifier: Apache-2.0
// The pages in a browser: `pages.mjs FOLDER [ORRERY]`, the reports that tools/test-web made in a folder and, where a
// program is named that can, what it serves. Ends with "N passed, N failed". Times are printed, not judged, and taken last.
import { resolve } from "node:path";
import { finish } from "./browser.mjs";
import { served } from "./live.mjs";
import { million, reports } from "./report.mjs";

const folder = resolve(process.argv[2]);
const orrery = process.argv[3];
await Promise.all([reports(folder), orrery && served(resolve(orrery), `${folder}/runs`)]);
await million(folder);
process.exit(await finish());
