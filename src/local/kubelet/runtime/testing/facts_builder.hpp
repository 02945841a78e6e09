// Builds facts about containers from short texts, for test tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"

namespace plim::testing {

inline const WallTime kStarted(std::chrono::seconds(1'700'000'000));
inline const WallTime kFinished(std::chrono::seconds(1'700'000'005));

// "new", "running", "starting" (runs, but has not passed its startup probe), "unready", "exit N",
// "crash N" (ended with N and waits for its next start), "gone N" (ended with N in an earlier
// sandbox). The prefix "side-" makes a sidecar.
inline local::kubelet::ContainerFacts container_facts(std::string name, std::string_view text) {
  local::kubelet::ContainerFacts out{.name = std::move(name), .image = "busybox"};
  if (text.starts_with("side-")) {
    out.sidecar = true;
    text.remove_prefix(5);
  }
  const auto [word, number] = cut(text, ' ');
  if (word == "new") return out;
  out.run = local::kubelet::RunFacts{.id = std::string(64, 'a'), .restart = 0, .started = kStarted};
  if (word == "exit" || word == "crash" || word == "gone") {
    out.run->gone = word == "gone";
    out.run->finished = kFinished;
    out.run->exit_code = parse_int(number).value_or(0);
    out.run->reason = out.run->exit_code == 0 ? "Completed" : "Error";
    if (word == "crash") out.waiting_reason = "CrashLoopBackOff";
    return out;
  }
  out.started = word != "starting";
  out.ready = word == "running";
  return out;
}

// "running, exit 0": containers c1, c2.
inline std::vector<local::kubelet::ContainerFacts> containers_facts(std::string prefix,
                                                                    std::string_view text) {
  std::vector<local::kubelet::ContainerFacts> out;
  if (text.empty()) return out;
  for (std::string_view part : split(text, ','))
    out.push_back(container_facts(prefix + std::to_string(out.size() + 1), trim(part)));
  return out;
}

inline local::kubelet::PodFacts pod_facts(std::string_view init, std::string_view containers) {
  local::kubelet::PodFacts out{.host_ip = "127.32.1.1"};
  out.init = containers_facts("i", init);
  out.containers = containers_facts("c", containers);
  return out;
}

}  // namespace plim::testing
