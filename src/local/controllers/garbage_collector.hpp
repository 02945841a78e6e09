// Deletes what has lost its owners, and sees foreground deletion and orphaning through.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/informer.hpp"
#include "local/controllers/controller.hpp"
#include "local/controllers/garbage_graph.hpp"
#include "local/controllers/served_kinds.hpp"

namespace plim::local::controllers {

// Follows every kind the server has, those of CustomResourceDefinitions as they come and go. Keys
// are uids; "" stands for looking at the kinds again.
class GarbageCollector final : public Controller {
 public:
  explicit GarbageCollector(const ControllerContext& context);

  void start() override;
  Task<void> stop() override;

 private:
  struct Kind {
    kube::Resource resource;
    // Null for kinds that the shared informers have anyway.
    std::unique_ptr<kube::Informer<kube::ObjectMeta>> informer;
  };

  Task<Result<void>> reconcile(std::string uid) override;
  Task<Result<void>> follow_kinds();
  Task<bool> wait_synced();
  Task<Result<void>> finish_foreground(GarbageGraph::Node node);
  Task<Result<void>> orphan_dependents(GarbageGraph::Node node);
  Task<Result<void>> collect(GarbageGraph::Node node);
  std::vector<std::string> owners_that_orphan(const GarbageGraph::Node& node) const;
  Task<Result<OwnerState>> look_up(kube::Owner owner, std::string ns);
  Task<Result<void>> carry_out(GarbageGraph::Node node, GarbageDecision decision);
  Task<Result<void>> drop_references(std::size_t kind, kube::ObjectPath path, std::string uid,
                                     std::vector<std::string> owners);
  Task<Result<void>> drop_finalizer(std::size_t kind, kube::ObjectPath path, std::string uid,
                                    std::string finalizer);
  // The object with this uid; not_found if there is none or another of its name.
  Task<Result<json::value>> read(std::size_t kind, kube::ObjectPath path, std::string uid);

  std::size_t add_kind(const kube::Resource& resource);
  template <class T>
  void follow(kube::Informer<T>& informer, std::size_t kind);
  void put(std::size_t kind, const kube::ObjectMeta& meta);
  void enqueue_all(const GarbageGraph::Uids& uids);

  // Never shrinks, so that the numbers in the graph stay true.
  std::vector<Kind> kinds_;
  std::map<std::string, std::size_t> by_path_;
  std::map<std::string, std::size_t> by_kind_;  // "apps/v1/ReplicaSet"; versions as referred to
  GarbageGraph graph_;
  std::set<std::string> absent_;    // owners looked for in vain
  std::set<std::string> orphaned_;  // owners that left their dependents alone
  bool ready_ = false;              // every kind has been seen once
};

}  // namespace plim::local::controllers
