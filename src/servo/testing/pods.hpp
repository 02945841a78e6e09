// Pods for the servo's tests.
#pragma once

#include <string>

#include <fmt/format.h>

#include "base/json.hpp"
#include "loop/application_id.hpp"
#include "servo/job.hpp"

namespace plim::servo::testing {

inline loop::AppIdPath default_path() {
  return *loop::AppIdPath::parse("spec/containers/0/env/[JOBID]");
}

inline JobRules default_rules() {
  return {Namespaces{{"default"}}, default_path(), "0"};
}

inline json::value times(std::string_view started, std::string_view finished, int exit_code = 0) {
  return {{"startedAt", started},
          {"finishedAt", finished},
          {"exitCode", exit_code},
          {"reason", exit_code == 0 ? "Completed" : "Error"}};
}

// Ran from 10:00:00 to 10:00:42.
inline json::value forty_two_seconds(int exit_code = 0) {
  return times("2026-01-01T10:00:00Z", "2026-01-01T10:00:42Z", exit_code);
}

inline json::value running_pod(std::string uid, std::string app) {
  json::value out = json::parse(R"({
    "metadata": {"namespace": "default", "creationTimestamp": "2026-01-01T09:59:50Z", "resourceVersion": "1"},
    "spec": {"restartPolicy": "Never", "nodeName": "n1", "containers": [
      {"name": "main", "image": "busybox", "env": [{"name": "JOBID"}], "resources": {"limits": {"memory": "64Mi"}}},
      {"name": "side", "image": "other"}]},
    "status": {"phase": "Running", "startTime": "2026-01-01T09:59:55Z", "containerStatuses": [
      {"name": "side", "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T09:00:00Z"}}},
      {"name": "main", "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T10:00:00Z"}}}]}})");
  out.at("metadata").as_object()["name"] = "pod-" + uid;
  out.at("metadata").as_object()["uid"] = std::move(uid);
  out.at_pointer("/spec/containers/0/env/0").as_object()["value"] = std::move(app);
  return out;
}

// The measured container's status is the second one, so that code that takes the first one fails.
inline json::object& main_status(json::value& pod) {
  return pod.at_pointer("/status/containerStatuses/1").as_object();
}

inline json::value ended_pod(std::string uid, std::string app,
                             json::value terminated = forty_two_seconds()) {
  json::value out = running_pod(std::move(uid), std::move(app));
  main_status(out)["state"] = json::object{{"terminated", std::move(terminated)}};
  out.at("status").as_object()["phase"] = "Succeeded";
  return out;
}

inline loop::RunRecord some_run(std::string uid, std::string app = "a", WallTime observed = {}) {
  const Sighting seen =
      look_at(ended_pod(std::move(uid), std::move(app)), default_rules(), Seen::present, observed);
  return seen.ended.at(0);
}

}  // namespace plim::servo::testing
