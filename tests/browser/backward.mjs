/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An operator of the forward pass leads to its backward pass, and back; a kernel of the backward
 * pass leads to its launch.
 *
 *   node backward.mjs REPORT.html... */
import { check, open, run } from "./support.mjs";
import { waitForTimeline } from "./timeline.mjs";

async function checkReport(browser, file) {
  const page = await open(browser, file);
  await waitForTimeline(page);
  const name = page.locator(".timeline .name-full"), details = page.locator(".timeline .details");
  const find = page.getByRole("searchbox", { name: "Find slices by name" });
  const go = (to) => details.getByRole("button", { name: `Go to its ${to}` });
  await find.fill("addmm");
  await find.press("Enter");
  check(await name.textContent() === "aten::addmm", "the operator is found");
  check(await go("forward pass").count() === 0 && await go("launch").count() === 0,
    "it belongs to no other");
  await go("backward pass").click();
  check(/function: AddmmBackward0$/.test(await name.textContent()), "it leads to its backward pass");
  check(/Forward pass\s*200.* µs before/.test(await details.textContent()),
    "which says how long ago the operator began", await details.textContent());
  await go("forward pass").click();
  check(await name.textContent() === "aten::addmm", "and leads back to the innermost operator");
  await find.fill("AddmmBackward0");
  await find.press("Enter");
  await find.press("Enter");
  check(await name.textContent() === "AddmmBackward0", "the node itself is found");
  await go("forward pass").click();
  check(await name.textContent() === "aten::addmm", "and leads back, too");
  await find.fill("gemm");
  await find.press("Enter");
  check(await go("forward pass").count() === 0, "a kernel has no forward pass");
  await go("launch").click();
  check(await name.textContent() === "cudaLaunchKernel", "but a launch");
  check(page.faults.length === 0, "without a fault", page.faults.join("; "));
  await page.context().close();
}

await run(checkReport);
