#!/usr/bin/env python3
"""CPU pools on a kernel that has cpusets in version 2 of cgroups only, with two NUMA nodes and CPUs that go and come back.

Takes about a minute on a quiet machine of 2 cores, all of it emulated."""
import re
import tempfile
import unittest

import guest

SCRIPT = r"""
fact() { echo "fact $*"; }
until_it() { n=0; until eval "$1"; do n=$((n+1)); [ $n -gt 60 ] && { echo "late: $1"; exit 1; }; sleep 0.1; done; }
get() { plimsoll raw "$1"; }
post() { echo "$2" | plimsoll raw "$1" -d - > /dev/null || { echo "late: $2"; exit 1; }; }
pod() {
  post /api/v1/namespaces/default/pods '{"metadata":{"name":"'$1'"},"spec":{"containers":[{"name":"c","image":"x","command":["sh","-c",
    "echo told $EXCLUSIVE_CPUS of $PLIMSOLL_NUMA_NODES; sleep 1000"],"resources":{"limits":{'$2'}}}]}}'
  until_it "get /api/v1/namespaces/default/pods/$1 | grep -q '\"phase\": *\"Running\"'"
}
directory() {  # of the container
  uid=$(get /api/v1/namespaces/default/pods/$1 | grep -o '"uid": *"[^"]*"' | head -1 | cut -d'"' -f4)
  for pid in $(cat $(find /sys/fs/cgroup -path "*kubepods*pod$uid/*" -name cgroup.procs)); do
    grep -q sleep /proc/$pid/cmdline && sed 's/^0::/\/sys\/fs\/cgroup/' /proc/$pid/cgroup && return
  done
}
shows() {  # name, what its set is to be
  place=$(directory $1)
  until_it '[ "$(cat $place/cpuset.cpus)" = "'$2'" ]'
  for pid in $(cat $place/cgroup.procs); do allowed=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/$pid/status); done
  fact $1 $(cat $place/cpuset.cpus) $(cat $place/cpuset.cpus.effective) $allowed
}

eval "$(plimsoll up --detach --nodes 1 --roles pools --ephemeral --wait 90s)"
post /api/v1/namespaces/kube-system/configmaps '{"metadata":{"name":"cpu-dp-configmap"},"data":{"poolconfig.yaml":
  "pools: {exclusive-pool: {cpus: \"2-3\"}, shared-pool: {cpus: \"1\"}}"}}'
until_it 'get /api/v1/nodes/n1 | grep -q "nokia.k8s.io/shared-pool\": *\"1"'
pod one '"nokia.k8s.io/exclusive-pool":"2"'
pod two '"nokia.k8s.io/shared-pool":"100"'
pod three ''
shows one 2-3
shows two 1
shows three 0
fact told $(get /api/v1/namespaces/default/pods/one/log)
place=$(directory one)
echo 0-3 > $place/cpuset.cpus
shows one 2-3
echo 0 > /sys/devices/system/cpu/cpu3/online
shows one 2
echo 1 > /sys/devices/system/cpu/cpu3/online
shows one 2-3
plimsoll pools
url=$(grep -o 'http://[^"]*:91[0-9]*' $(find /root -name endpoints.json) | head -1)
wget -q -O - $url/metrics | grep -E 'drift_total|writes_total' | sed 's/^/fact /'
fact version $(wget -q -O - $url/state | grep -o '"cgroups": *"[^"]*"' | cut -d'"' -f4)
plimsoll down > /dev/null
"""


class PoolsOnVersion2(unittest.TestCase):
    def test_containers_have_their_cpus(self):
        if reason := guest.missing():
            self.skipTest(reason)
        with tempfile.TemporaryDirectory() as place:
            console = guest.run(SCRIPT, place)
        facts = re.findall(r"^fact (.*)$", console, re.MULTILINE)
        self.assertNotIn("late:", console)
        # As written, as the kernel takes it, as its processes may run.
        self.assertEqual(facts[:3], ["one 2-3 2-3 2-3", "two 1 1 1", "three 0 0 0"], console[-5000:])
        self.assertEqual(facts[3], "told told 2,3 of 1")
        # Somebody meddles; a CPU goes and comes back.
        self.assertEqual(facts[4:7], ["one 2-3 2-3 2-3", "one 2 2 2", "one 2-3 2-3 2-3"], console[-5000:])
        self.assertIn("plimsoll_pools_drift_total 1", facts)
        self.assertIn("version v2", facts)
        self.assertRegex(console, r"n1 numa 0:  \.s\n(n1 !.*\n)?n1 numa 1:  (AA|!!)")


if __name__ == "__main__":
    unittest.main()
