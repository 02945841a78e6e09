// Deletes objects whose owners are gone; completes foreground deletion and orphaning.
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

// Follows every kind that the server has, including custom resources as they come and go. Keys are
// UIDs; "" means that the list of kinds has to be read again.
class GarbageCollector final : public Controller {
 public:
  explicit GarbageCollector(const ControllerContext& context);

  void start() override;
  Task<void> stop() override;

 private:
  struct Kind {
    kube::Resource resource;
    // Null for kinds with a shared informer.
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
  // The object with this UID; not_found if there is none or another one has its name.
  Task<Result<json::value>> read(std::size_t kind, kube::ObjectPath path, std::string uid);

  std::size_t add_kind(const kube::Resource& resource);
  template <class T>
  void follow(kube::Informer<T>& informer, std::size_t kind);
  void put(std::size_t kind, const kube::ObjectMeta& meta);
  void enqueue_all(const GarbageGraph::Uids& uids);

  // Never shrinks, so that the indexes in the graph stay valid.
  std::vector<Kind> kinds_;
  std::map<std::string, std::size_t> by_path_;
  std::map<std::string, std::size_t> by_kind_;  // "apps/v1/ReplicaSet", as references name it
  GarbageGraph graph_;
  std::set<std::string> absent_;    // owners that were looked up and not found
  std::set<std::string> orphaned_;  // owners that were deleted and orphaned their dependents
  bool ready_ = false;              // every kind was listed once
};

}  // namespace plim::local::controllers
