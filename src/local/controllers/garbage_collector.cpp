#include "local/controllers/garbage_collector.hpp"

#include <fmt/format.h>

namespace plim::local::controllers {
namespace {

constexpr std::size_t kRememberedOwners = 4096;  // UIDs of owners that are gone
constexpr std::chrono::seconds kSyncLimit{10};
constexpr std::chrono::milliseconds kSyncPoll{5};

// There are many events; they refer to objects but have no owners.
bool is_ignored(const ServedKind& kind) {
  const bool events = kind.resource.plural == "events" &&
                      (kind.resource.group.empty() || kind.resource.group == "events.k8s.io");
  return events || !kind.can("list") || !kind.can("watch") || !kind.can("delete");
}

void remember_owner(std::set<std::string>& uids, const std::string& uid) {
  if (uids.size() >= kRememberedOwners) uids.clear();
  uids.insert(uid);
}

std::string kind_key(std::string_view api_version, std::string_view kind) {
  return fmt::format("{}/{}", api_version, kind);
}

kube::Codec<kube::ObjectMeta> lean_codec(kube::InternPool& pool) {
  return kube::codec_of<kube::ObjectMeta>([&pool](kube::JsonText text) -> Result<kube::ObjectMeta> {
    PLIM_TRY(kube::ObjectMeta meta, kube::decode_meta(text, pool));
    meta.labels = {};
    meta.annotations = {};
    return meta;
  });
}

}  // namespace

GarbageCollector::GarbageCollector(const ControllerContext& context)
    : Controller(context, {.name = "garbage-collector-controller",
                           .component = "garbage-collector-controller",
                           .workers = 20}) {
  // Requested before start(): without other controllers these informers would not be started.
  (void)informers_.pods();
  (void)informers_.nodes();
  auto look = [this](const auto&...) { enqueue(""); };
  informers_.objects(kube::resources::custom_resource_definitions)
      .informer.add_handlers({.on_add = look, .on_update = look, .on_delete = look});
}

void GarbageCollector::start() {
  enqueue("");
  Controller::start();
}

Task<void> GarbageCollector::stop() {
  co_await Controller::stop();  // first, since its workers add and remove informers
  for (Kind& kind : kinds_)
    if (kind.informer) co_await kind.informer->stop();
}

Task<Result<void>> GarbageCollector::follow_kinds() {
  PLIM_CO_TRY(std::vector<ServedKind> served, co_await discover_kinds(client_));
  std::set<std::string> present;
  for (const ServedKind& kind : served) {
    if (is_ignored(kind)) continue;
    present.insert(kube::api_path(kind.resource, {}));
    add_kind(kind.resource);
  }
  // If a kind is no longer served, its objects are gone.
  for (auto& [path, number] : by_path_) {
    Kind& kind = kinds_[number];
    if (present.contains(path) || !kind.informer) continue;
    co_await kind.informer->stop();
    std::vector<std::string> uids;
    for (const auto& [key, meta] : kind.informer->store()) uids.push_back(meta->uid);
    kind.informer.reset();
    for (const std::string& uid : uids) enqueue_all(graph_.erase(uid));
  }
  if (!co_await wait_synced()) co_return fail(Code::timeout, "not all kinds could be listed");
  if (ready_) co_return Result<void>();
  // From now on a missing owner is really gone.
  ready_ = true;
  graph_.for_each([this](const GarbageGraph::Node& node) {
    if (!node.owners.empty() || node.deleting) enqueue(node.uid);
  });
  co_return Result<void>();
}

// A kind that is removed while we wait is never listed; the caller has to read the kinds again.
Task<bool> GarbageCollector::wait_synced() {
  const SteadyTime limit = clock_.steady() + kSyncLimit;
  for (const Kind& kind : kinds_)
    while (kind.informer && !kind.informer->synced()) {
      if (clock_.steady() >= limit) co_return false;
      co_await clock_.sleep(kSyncPoll);
    }
  co_return true;
}

std::size_t GarbageCollector::add_kind(const kube::Resource& resource) {
  const std::string path = kube::api_path(resource, {});
  auto [place, added] = by_path_.emplace(path, kinds_.size());
  const std::size_t number = place->second;
  if (added) {
    kinds_.push_back({resource, nullptr});
    by_kind_[kind_key(kube::api_version(resource), resource.kind)] = number;
    if (resource.group.empty() && resource.plural == "pods") {
      follow(informers_.pods().informer, number);
    } else if (resource.group.empty() && resource.plural == "nodes") {
      follow(informers_.nodes().informer, number);
    } else if (ObjectCache* shared = informers_.find_objects(resource)) {
      follow(shared->informer, number);
    }
  }
  const bool shared =
      (resource.group.empty() && (resource.plural == "pods" || resource.plural == "nodes")) ||
      informers_.find_objects(resource);
  if (shared || kinds_[number].informer) return number;
  kinds_[number].informer = std::make_unique<kube::Informer<kube::ObjectMeta>>(
      loop_, client_, resource, lean_codec(informers_.pool()), kube::ReflectorOptions(), clock_);
  follow(*kinds_[number].informer, number);
  kinds_[number].informer->start();
  return number;
}

template <class T>
void GarbageCollector::follow(kube::Informer<T>& informer, std::size_t kind) {
  using Pointer = std::shared_ptr<const T>;
  informer.add_handlers(
      {.on_add = [this, kind](const Pointer& object) { put(kind, kube::meta_of(*object)); },
       .on_update = [this, kind](const Pointer&,
                                 const Pointer& now) { put(kind, kube::meta_of(*now)); },
       .on_delete =
           [this](const Pointer& last) { enqueue_all(graph_.erase(kube::meta_of(*last).uid)); }});
}

void GarbageCollector::put(std::size_t kind, const kube::ObjectMeta& meta) {
  enqueue_all(graph_.put(GarbageGraph::Node(kind, meta)));
}

void GarbageCollector::enqueue_all(const GarbageGraph::Uids& uids) {
  if (!ready_) return;
  for (const std::string& uid : uids) enqueue(uid);
}

Task<Result<void>> GarbageCollector::reconcile(std::string uid) {
  if (uid.empty()) co_return co_await follow_kinds();
  const GarbageGraph::Node* found = graph_.find(uid);
  if (!found) co_return Result<void>();
  GarbageGraph::Node node = *found;  // a copy: the graph may change while we wait
  if (node.orphans_dependents) co_return co_await orphan_dependents(std::move(node));
  if (node.waits_for_dependents) co_return co_await finish_foreground(std::move(node));
  if (node.deleting || node.owners.empty()) co_return Result<void>();
  co_return co_await collect(std::move(node));
}

Task<Result<void>> GarbageCollector::finish_foreground(GarbageGraph::Node node) {
  const auto blocking = graph_.blocking_dependents(node.uid);
  for (const GarbageGraph::Node* dependent : blocking)
    if (!dependent->waits_for_dependents) enqueue(dependent->uid);
  if (!blocking.empty()) co_return Result<void>();
  kube::ObjectPath path{node.ns, node.name};
  co_return co_await drop_finalizer(node.kind, std::move(path), node.uid,
                                    std::string(kForegroundFinalizer));
}

Task<Result<void>> GarbageCollector::orphan_dependents(GarbageGraph::Node node) {
  std::vector<GarbageGraph::Node> dependents;
  for (const GarbageGraph::Node* one : graph_.dependents(node.uid)) dependents.push_back(*one);
  for (const GarbageGraph::Node& one : dependents) {
    kube::ObjectPath path{one.ns, one.name};
    std::vector<std::string> owners(1, node.uid);
    PLIM_CO_CHECK(co_await drop_references(one.kind, std::move(path), one.uid, std::move(owners)));
  }
  // Each kind has its own cache, so ours may see a dependent later than others do.
  remember_owner(orphaned_, node.uid);
  kube::ObjectPath path{node.ns, node.name};
  co_return co_await drop_finalizer(node.kind, std::move(path), node.uid,
                                    std::string(kOrphanFinalizer));
}

std::vector<std::string> GarbageCollector::owners_that_orphan(
    const GarbageGraph::Node& node) const {
  std::vector<std::string> out;
  for (const kube::Owner& owner : node.owners)
    if (orphaned_.contains(owner.uid)) out.push_back(owner.uid);
  return out;
}

Task<Result<void>> GarbageCollector::collect(GarbageGraph::Node node) {
  std::vector<std::string> let_go = owners_that_orphan(node);
  if (!let_go.empty()) {  // the other owners are checked when this change arrives
    kube::ObjectPath path{node.ns, node.name};
    co_return co_await drop_references(node.kind, std::move(path), node.uid, std::move(let_go));
  }
  std::vector<OwnerState> states;
  for (const kube::Owner& owner : node.owners) {
    if (const GarbageGraph::Node* above = graph_.find(owner.uid)) {
      states.push_back(above->waits_for_dependents ? OwnerState::waits_for_dependents
                                                   : OwnerState::present);
      continue;
    }
    PLIM_CO_TRY(OwnerState state, co_await look_up(owner, node.ns));
    states.push_back(state);
  }
  const bool has_dependents = !graph_.dependents(node.uid).empty();
  GarbageDecision decision = decide_garbage(node, states, has_dependents);
  co_return co_await carry_out(std::move(node), std::move(decision));
}

// Asks the server: the cache may lag behind, and a deletion is final.
Task<Result<OwnerState>> GarbageCollector::look_up(kube::Owner owner, std::string ns) {
  if (absent_.contains(owner.uid)) co_return OwnerState::absent;
  auto known = by_kind_.find(kind_key(owner.api_version.view(), owner.kind.view()));
  // We cannot read this kind, so the owner may exist.
  if (known == by_kind_.end()) co_return OwnerState::present;
  const kube::Resource resource = kinds_[known->second].resource;
  // A cluster-scoped object cannot be owned by a namespaced one; such an object stays.
  if (resource.namespaced && ns.empty()) co_return OwnerState::present;
  kube::ObjectPath path;
  if (resource.namespaced) path.ns = std::move(ns);
  path.name = owner.name.view();
  auto live = co_await read(known->second, std::move(path), owner.uid);
  if (!live && live.error().code != Code::not_found) co_return std::move(live).error();
  if (live) {
    bool waits = false;
    for (const json::value& one : kube::list_at(*live, "Object.metadata.finalizers"))
      waits = waits || one == json::value(kForegroundFinalizer);
    co_return waits&& kube::is_being_deleted(*live) ? OwnerState::waits_for_dependents
                                                    : OwnerState::present;
  }
  remember_owner(absent_, owner.uid);
  co_return OwnerState::absent;
}

Task<Result<void>> GarbageCollector::carry_out(GarbageGraph::Node node, GarbageDecision decision) {
  using Action = GarbageDecision::Action;
  kube::ObjectPath path{node.ns, node.name};
  if (decision.action == Action::keep) co_return Result<void>();
  if (decision.action == Action::drop_references)
    co_return co_await drop_references(node.kind, std::move(path), node.uid,
                                       std::move(decision.dropped));
  auto live = co_await read(node.kind, path, node.uid);
  if (!live && live.error().code == Code::not_found) co_return Result<void>();
  if (!live) co_return std::move(live).error();
  // New owners were added: retry when the cache has them.
  if (kube::owners_of(*live).size() != node.owners.size())
    co_return fail(Code::conflict, "the owners have changed");
  kube::DeleteOptions options;
  options.uid = node.uid;
  options.resource_version = kube::resource_version_of(*live);
  options.propagation = "Background";
  if (decision.action == Action::remove_in_foreground) options.propagation = "Foreground";
  // The object's own finalizers take precedence.
  for (const json::value& one : kube::list_at(*live, "Object.metadata.finalizers")) {
    if (one == json::value(kOrphanFinalizer)) options.propagation = "Orphan";
    if (one == json::value(kForegroundFinalizer)) options.propagation = "Foreground";
  }
  auto removed =
      co_await client_->remove(kinds_[node.kind].resource, std::move(path), std::move(options));
  if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  co_return Result<void>();
}

Task<Result<json::value>> GarbageCollector::read(std::size_t kind, kube::ObjectPath path,
                                                 std::string uid) {
  PLIM_CO_TRY(json::value live, co_await client_->get(kinds_[kind].resource, std::move(path)));
  if (kube::uid_of(live) != uid) co_return fail(Code::not_found, "another object has this name");
  co_return live;
}

// Custom resources support only merge patches; the resource version protects the list.
Task<Result<void>> GarbageCollector::drop_references(std::size_t kind, kube::ObjectPath path,
                                                     std::string uid,
                                                     std::vector<std::string> owners) {
  auto live = co_await read(kind, path, uid);
  if (!live && live.error().code == Code::not_found) co_return Result<void>();
  if (!live) co_return std::move(live).error();
  json::value changed = *live;
  bool any = false;
  for (const std::string& owner : owners) any |= kube::remove_owner(changed, owner);
  if (!any) co_return Result<void>();
  const json::value* left = kube::find(changed, "Object.metadata.ownerReferences");
  json::value patch{{"metadata",
                     {{"resourceVersion", kube::resource_version_of(*live)},
                      {"ownerReferences", left ? *left : json::value()}}}};
  auto patched = co_await client_->patch(kinds_[kind].resource, std::move(path),
                                         kube::PatchType::merge, std::move(patch));
  if (!patched && patched.error().code != Code::not_found) co_return std::move(patched).error();
  co_return Result<void>();
}

Task<Result<void>> GarbageCollector::drop_finalizer(std::size_t kind, kube::ObjectPath path,
                                                    std::string uid, std::string finalizer) {
  auto live = co_await read(kind, path, uid);
  if (!live && live.error().code == Code::not_found) co_return Result<void>();
  if (!live) co_return std::move(live).error();
  json::array kept;
  for (const json::value& one : kube::list_at(*live, "Object.metadata.finalizers"))
    if (one != json::value(finalizer)) kept.push_back(one);
  json::value patch{{"metadata",
                     {{"resourceVersion", kube::resource_version_of(*live)},
                      {"finalizers", kept.empty() ? json::value() : json::value(kept)}}}};
  auto patched = co_await client_->patch(kinds_[kind].resource, std::move(path),
                                         kube::PatchType::merge, std::move(patch));
  if (!patched && patched.error().code != Code::not_found) co_return std::move(patched).error();
  co_return Result<void>();
}

}  // namespace plim::local::controllers
