#!/usr/bin/env python3
"""Generated clusters and pods to kube-scheduler and to ours: feasible nodes, scores and reasons are the same.

SCHEDULER_SEED and SCHEDULER_CLUSTERS ask other questions, and more of them. What differs is made as small as it gets and kept in
tests/data/sched, where tests/e2e/sched asks it again and again."""
import concurrent.futures
import os
import queue
import sys
import time
import unittest

import pair  # noqa: F401 - puts the rig on the path
import scheduler_cases
from scheduler_minimise import Minimiser, question_at
from scheduler_stock import Stock, compare

SEED = os.environ.get("SCHEDULER_SEED", "1")
CLUSTERS = int(os.environ.get("SCHEDULER_CLUSTERS", "40"))
PODS = 52  # of each cluster
KEPT_AT_MOST = 3  # of those that differ


class Scheduler(unittest.TestCase):
    def test_decides_as_kube_scheduler(self):
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            stocks = [one.result() for one in [pool.submit(Stock), pool.submit(Stock)]]
            for stock in stocks:
                self.addCleanup(stock.close)
            free = queue.SimpleQueue()
            for stock in stocks:
                free.put(stock)

            def compared(number):
                cluster = scheduler_cases.cluster(SEED, number, PODS)
                stock = free.get()
                try:
                    return cluster, *compare(stock.ask, cluster)
                finally:
                    free.put(stock)
            results = list(pool.map(compared, range(CLUSTERS)))
        attempts = [attempt for _, recording, _ in results for attempt in recording["attempts"]]
        kinds = {"one node": sum(attempt.get("feasible") == 1 for attempt in attempts), "none": sum("message" in attempt for attempt in attempts)}
        print(f"note: {len(attempts)} questions to kube-scheduler, {kinds['one node']} with one feasible node and {kinds['none']} with none, "
              f"in {time.monotonic() - begun:.0f} s", file=sys.stderr)
        self.assertGreaterEqual(len(attempts), CLUSTERS * PODS)
        differing = [result for result in results if result[2]]
        if differing:
            self.fail(self.report(stocks[0], differing))

    def test_follows_a_long_history(self):
        """1,000 pods one by one: wherever kube-scheduler has put those before, it takes a node that is among our best."""
        with Stock() as stock:
            recording, differing = compare(stock.ask, scheduler_cases.cluster(SEED, "history", 1000, nodes=60))
        self.assertGreaterEqual(len(recording["attempts"]), 1000)
        self.assertEqual(differing, [])

    def report(self, stock, differing):
        """What differs, the first few with the smallest question that shows it."""
        lines = [f"{sum(len(found) for _, _, found in differing)} answers differ, in {len(differing)} clusters"]
        for cluster, recording, found in differing:
            for index, difference in found[:2]:
                lines.append(f"cluster {cluster.name}, attempt {index}, pod {recording['attempts'][index]['pod']}: {difference}")
        for cluster, recording, found in differing[:KEPT_AT_MOST]:
            minimiser = Minimiser(stock, seconds=60)
            if minimiser.minimise(question_at(cluster, recording, found[0][0])):
                folder = minimiser.keep(f"{cluster.name}-{found[0][0]}")
                lines.append(f"kept as {folder}: {minimiser.difference}")
        return "\n".join(lines)


if __name__ == "__main__":
    unittest.main()
