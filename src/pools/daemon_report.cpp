// The daemon's reports: its state, the NodeReport, and annotations of pods.
#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "pools/daemon.hpp"
#include "pools/pool_view.hpp"

namespace plim::pools {
namespace {

constexpr Nanos kReportsApart = std::chrono::seconds(10);
constexpr std::string_view kReportVersion = "plimsoll.io/v1alpha1";

}  // namespace

std::string Daemon::not_ready() const {
  if (std::string missing = cluster_ ? cluster_->not_synced() : ""; !missing.empty())
    return "pools: " + missing;
  if (!configured_) return "pools: no configuration yet";
  if (!reconciled_) return "pools: the first check of the containers is not complete";
  if (options_.plugin && !options_.dry_run && !plugins_->ready())
    return "pools: not registered with the kubelet";
  return {};
}

bool Daemon::ready() const {
  return not_ready().empty();
}

json::value Daemon::state() const {
  json::value pools =
      describe_pools(state_, options_.node_name,
                     foreign_processes(options_.host_root, state_.exclusive_members()));
  json::object& out = pools.get_object();
  out["ready"] = ready();
  if (!ready()) out["reason"] = not_ready();
  if (ready() && state_.pools().idle()) out["reason"] = "NoPoolConfig";
  if (!problem_.empty()) out["configProblem"] = problem_;
  out["cgroups"] = !setter_ ? "none" : setter_->tree().v2() ? "v2" : "v1";
  out["cpuManagerPolicy"] = options_.cpu_manager_policy;
  return json::object{{"pools", std::move(pools)}};
}

Task<void> Daemon::publish() {
  const kube::Resource resource{.group = "plimsoll.io",
                                .version = "v1alpha1",
                                .plural = "nodereports",
                                .kind = "NodeReport",
                                .namespaced = false};
  kube::WriteOptions write;
  write.field_manager = "plimsoll-pools";
  write.force = true;
  json::value last;
  for (;;) {
    json::value pools = report_pools(state_);
    if (pools != last) {
      json::value report = json::object{{"apiVersion", kReportVersion},
                                        {"kind", "NodeReport"},
                                        {"metadata", json::object{{"name", options_.node_name}}},
                                        {"spec", json::object{{"pools", pools}}}};
      kube::ObjectPath path{.ns = {}, .name = options_.node_name};
      const auto done = co_await client_->patch(resource, std::move(path), kube::PatchType::apply,
                                                std::move(report), write);
      if (done)
        last = std::move(pools);
      else
        log_.write(log::Level::warn, "pools", "cannot write the NodeReport",
                   {{"error", done.error()}});
      co_await clock_.sleep(kReportsApart);
      continue;
    }
    co_await changed_.wait();
  }
}

Task<void> Daemon::annotate() {
  for (;;) {
    while (!confined_.empty()) {
      const std::string key = *confined_.begin();
      confined_.erase(confined_.begin());
      const auto [ns, name] = cut(key, '/');
      const std::string annotation = state_.pools().base_name + "/cpusets-configured";
      json::value patch;
      kube::make_object(patch, "Pod.metadata.annotations")[annotation] = "true";
      kube::ObjectPath path{.ns = std::string(ns), .name = std::string(name)};
      const auto done = co_await client_->patch(kube::resources::pods, std::move(path),
                                                kube::PatchType::merge, std::move(patch));
      if (!done && done.error().code != Code::not_found)
        log_.write(log::Level::warn, "pools", "cannot annotate a pod",
                   {{"pod", key}, {"error", done.error()}});
    }
    co_await changed_.wait();
  }
}

}  // namespace plim::pools
