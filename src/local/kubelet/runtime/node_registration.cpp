#include "local/kubelet/runtime/node_registration.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;

NodeRegistration::NodeRegistration(const Executor& loop, std::shared_ptr<kube::Client> client,
                                   Clock& clock, const NodeOptions& options,
                                   std::function<NodeFacts()> facts)
    : client_(std::move(client)),
      clock_(clock),
      options_(options),
      facts_(std::move(facts)),
      changed_(loop),
      tasks_(loop) {}

Task<Result<void>> NodeRegistration::enter() {
  json::value wanted = make_node(options_);
  kube::ObjectPath path{"", options_.name};
  auto made = co_await client_->create(kube::resources::nodes, path, wanted);
  if (made) {
    node_ = std::move(*made);
  } else if (made.error().code == Code::already_exists) {
    // Taints and labels that users added stay.
    json::object metadata{{"labels", *kube::find(wanted, "Node.metadata.labels")},
                          {"annotations", *kube::find(wanted, "Node.metadata.annotations")}};
    json::object patch{{"metadata", std::move(metadata)}};
    PLIM_CO_TRY(node_, co_await client_->patch(kube::resources::nodes, path, kube::PatchType::merge,
                                               std::move(patch)));
  } else {
    co_return made.error().with_context("while registering node " + options_.name);
  }
  PLIM_CO_CHECK(co_await write_status());
  co_return co_await renew_lease();
}

void NodeRegistration::start() {
  tasks_.spawn("status of node " + options_.name, keep_status());
  tasks_.spawn("lease of node " + options_.name, keep_lease());
}

Task<void> NodeRegistration::stop() {
  return tasks_.stop();
}

void NodeRegistration::facts_changed() {
  dirty_ = true;
  changed_.notify();
}

Task<Result<void>> NodeRegistration::write_status() {
  dirty_ = false;
  const json::value* before = kube::find(node_, "Node.status");
  json::value status = make_node_status(options_, facts_(),
                                        before != nullptr ? *before : json::value(), clock_.wall());
  json::object patch{{"status", std::move(status)}};
  kube::ObjectPath path{"", options_.name, "status"};
  // A strategic merge patch, so that conditions that others have added stay.
  PLIM_CO_TRY(node_, co_await client_->patch(kube::resources::nodes, std::move(path),
                                             kube::PatchType::strategic, std::move(patch)));
  co_return Result<void>();
}

// True if our facts have not changed, but the node lifecycle controller has marked the node not
// ready.
Task<bool> NodeRegistration::is_thought_silent() {
  kube::ObjectPath path{"", options_.name};
  auto live = co_await client_->get(kube::resources::nodes, std::move(path));
  if (!live) co_return false;
  for (const json::value& condition : kube::list_at(*live, "Node.status.conditions"))
    if (kube::text_at(condition, "NodeCondition.type") == "Ready" &&
        kube::text_at(condition, "NodeCondition.status") != "True") {
      node_ = std::move(*live);  // the Ready condition gets a new transition time
      co_return true;
    }
  co_return false;
}

Task<void> NodeRegistration::keep_status() {
  SteadyTime due = clock_.steady() + kStatusEvery;
  for (;;) {
    if (!dirty_) co_await changed_.wait_until(clock_, std::min(due, clock_.steady() + kStatusLook));
    if (!dirty_ && clock_.steady() < due) {
      const bool silent = co_await is_thought_silent();
      if (!silent) continue;
    }
    due = clock_.steady() + kStatusEvery;
    auto written = co_await write_status();
    if (written) continue;
    log::warn("node", "cannot write the node's status",
              {{"node", options_.name}, {"error", written.error()}});
    dirty_ = true;
    co_await clock_.sleep(5s);
    // The object was deleted: register again, as a kubelet does after its restart.
    if (written.error().code != Code::not_found) continue;
    auto entered = co_await enter();
    if (!entered)
      log::warn("node", "cannot register the node",
                {{"node", options_.name}, {"error", entered.error()}});
  }
}

Task<Result<void>> NodeRegistration::renew_lease() {
  json::object spec{{"holderIdentity", options_.name},
                    {"leaseDurationSeconds", kLeaseDuration.count()},
                    {"renewTime", format_rfc3339_micro(clock_.wall())}};
  json::object metadata{{"name", options_.name}, {"namespace", "kube-node-lease"}};
  const std::string_view uid = kube::uid_of(node_);
  if (!uid.empty())
    metadata["ownerReferences"] = json::array{json::object{
        {"apiVersion", "v1"}, {"kind", "Node"}, {"name", options_.name}, {"uid", uid}}};
  json::object lease{{"apiVersion", "coordination.k8s.io/v1"},
                     {"kind", "Lease"},
                     {"metadata", std::move(metadata)},
                     {"spec", spec}};
  kube::ObjectPath path{"kube-node-lease", options_.name};
  json::object patch{{"spec", std::move(spec)}};
  auto patched = co_await client_->patch(kube::resources::leases, path, kube::PatchType::merge,
                                         std::move(patch));
  if (patched) co_return Result<void>();
  if (patched.error().code != Code::not_found) co_return patched.error();
  PLIM_CO_CHECK(
      co_await client_->create(kube::resources::leases, std::move(path), std::move(lease)));
  co_return Result<void>();
}

Task<void> NodeRegistration::keep_lease() {
  for (;;) {
    co_await clock_.sleep(kLeaseRenewal);
    auto renewed = co_await renew_lease();
    if (!renewed)
      log::warn("node", "cannot renew the node's lease",
                {{"node", options_.name}, {"error", renewed.error()}});
  }
}

}  // namespace plim::local::kubelet
