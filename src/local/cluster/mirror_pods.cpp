#include "local/cluster/mirror_pods.hpp"

#include <algorithm>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/pod_status.hpp"
#include "net/x509.hpp"

namespace plim::local::cluster {
namespace {

constexpr Nanos kAgain = std::chrono::seconds(1);

kube::ReflectorOptions pods_beside_the_cluster() {
  kube::ReflectorOptions out;
  out.ns = kMirrorNamespace;
  return out;
}

std::uint64_t size_of_log(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

bool is_ready_node(const json::value& node) {
  const json::value* conditions = kube::find(node, "Node.status.conditions");
  return conditions != nullptr && conditions->is_array() &&
         std::ranges::any_of(conditions->get_array(), [](const json::value& condition) {
           return kube::text_at(condition, "NodeCondition.type") == "Ready" &&
                  kube::text_at(condition, "NodeCondition.status") == "True";
         });
}

// Compares only the members that we write.
bool says_the_same(const json::value& object, const json::value& status) {
  const json::value* now = kube::find(object, "Pod.status");
  return now != nullptr && now->is_object() &&
         std::ranges::all_of(status.get_object(), [&](const auto& member) {
           const json::value* old = now->get_object().if_contains(member.key());
           return old != nullptr && *old == member.value();
         });
}

kube::ObjectPath path_to(std::string_view name, std::string_view subresource = "") {
  return {.ns = std::string(kMirrorNamespace),
          .name = std::string(name),
          .subresource = std::string(subresource)};
}

// Code::unavailable: the node does not exist yet.
Task<Result<json::value>> get_node(std::shared_ptr<kube::Client> client, std::string name) {
  kube::ObjectPath path{.ns = "", .name = std::move(name)};
  auto node = co_await client->get(kube::resources::nodes, std::move(path));
  if (!node && node.error().code == Code::not_found)
    co_return fail(Code::unavailable, "the node does not exist");
  co_return node;
}

Task<Result<void>> remove_pod(std::shared_ptr<kube::Client> client, std::string name,
                              std::string uid) {
  kube::DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = std::move(uid);
  auto done = co_await client->remove(kube::resources::pods, path_to(name), std::move(options));
  if (!done && done.error().code != Code::not_found && done.error().code != Code::conflict)
    co_return done.error();
  co_return Result<void>();
}

}  // namespace

MirrorPods::MirrorPods(const Executor& loop, Clock& clock, std::shared_ptr<kube::Client> client,
                       Image image)
    : clock_(clock),
      client_(std::move(client)),
      image_(std::move(image)),
      informer_(loop, client_, kube::resources::pods, controllers::object_codec(pool_),
                pods_beside_the_cluster(), clock),
      changed_(loop),
      tasks_(loop) {}

void MirrorPods::start() {
  informer_.add_handlers(
      {.on_add = [this](const controllers::ObjectPointer& object) { see(*object); },
       .on_update = [this](const controllers::ObjectPointer&,
                           const controllers::ObjectPointer& object) { see(*object); },
       .on_delete = [this](const controllers::ObjectPointer& object) { lose(*object); }});
  informer_.start();
  tasks_.spawn("pods of roles", keep());
}

Task<void> MirrorPods::stop() {
  co_await informer_.stop();
  co_await tasks_.stop();
}

void MirrorPods::on_delete(std::function<void(const std::string& key)> callback) {
  deleted_ = std::move(callback);
}

void MirrorPods::begins(const std::string& key, MirrorPod pod) {
  const std::string hash = hash_of(pod);
  if (Entry* known = find_entry(key); known != nullptr && known->hash != hash) entries_.erase(key);
  auto [place, added] = entries_.try_emplace(key);
  Entry& entry = place->second;
  if (added) {
    entry.hash = hash;
    entry.facts.host_ip = entry.facts.pod_ip = pod.address;
    entry.facts.start_time = clock_.wall();
    entry.facts.ready_to_start = true;
    entry.facts.containers.push_back(
        {.name = pod.container, .image = image_.name, .image_id = image_.id});
  }
  kubelet::ContainerFacts& container = entry.container();
  const int restart = container.run ? container.run->restart + 1 : 0;
  if (container.run) entry.log_before = entry.log_from;
  entry.log_from = size_of_log(pod.log);
  entry.what = std::move(pod);
  const WallTime now = clock_.wall();
  kubelet::RunFacts run{
      .id = net::sha256_hex(fmt::format("{} {} {}", key, restart, now.time_since_epoch().count())),
      .restart = restart,
      .started = now};
  container.last = std::exchange(container.run, std::move(run));
  container.waiting_reason.clear();
  container.waiting_message.clear();
  container.started = container.ready = true;
  changed();
}

void MirrorPods::cannot_begin(const std::string& key, const std::string& why, Nanos pause) {
  Entry* entry = find_entry(key);
  if (entry == nullptr || !entry->container().running()) return;
  kubelet::RunFacts end = *entry->container().run;
  end.exit_code = 128;
  end.reason = "StartError";
  end.message = why;
  end_run(*entry, std::move(end), pause);
}

void MirrorPods::has_ended(const std::string& key, int exit_code, int signal, Nanos pause) {
  Entry* entry = find_entry(key);
  if (entry == nullptr || !entry->container().running()) return;
  kubelet::RunFacts end = *entry->container().run;
  end.exit_code = signal != 0 ? 128 + signal : exit_code;
  end.signal = signal;
  end.reason = end.exit_code == 0 ? "Completed" : "Error";
  end_run(*entry, std::move(end), pause);
}

void MirrorPods::end_run(Entry& entry, kubelet::RunFacts end, Nanos pause) {
  kubelet::ContainerFacts& container = entry.container();
  end.finished = clock_.wall();
  container.run = std::move(end);
  container.started = container.ready = false;
  container.waiting_reason = "CrashLoopBackOff";
  container.waiting_message =
      fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                  format_duration(std::chrono::ceil<std::chrono::seconds>(pause)), container.name,
                  entry.what.name, kMirrorNamespace, kube::uid_of(entry.object));
  changed();
}

void MirrorPods::renew(const std::string& key) {
  entries_.erase(key);
  changed();
}

void MirrorPods::move(const std::string& key, MirrorPod pod) {
  Entry* entry = find_entry(key);
  if (entry == nullptr) return;
  entry->hash = hash_of(pod);
  entry->facts.host_ip = entry->facts.pod_ip = pod.address;
  entry->what = std::move(pod);
  entry->object = nullptr;
  entry->vanished = entry->told = false;
  changed();
}

void MirrorPods::withdraw(const std::string& key) {
  entries_.erase(key);
  changed();
}

bool MirrorPods::has(std::string_view ns, std::string_view pod) const {
  return ns == kMirrorNamespace && std::ranges::any_of(entries_, [&](const auto& item) {
           return item.second.what.name == pod;
         });
}

Task<Result<void>> MirrorPods::read_log(std::string pod, kubelet::LogOptions options,
                                        std::function<bool(std::string)> write) {
  Entry* entry = find_pod(pod);
  if (entry == nullptr) co_return fail(Code::not_found, fmt::format("pod {} not found", pod));
  const kubelet::ContainerFacts& container = entry->container();
  // As with a kubelet: while the process waits for its next start, its last run is the current one,
  // and `previous` asks for the run before that.
  RoleLog log{.path = entry->what.log, .from = entry->log_from, .began = container.run->started};
  if (options.previous && container.running()) {
    if (!entry->log_before)
      co_return fail(Code::bad_request,
                     fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                                 container.name, pod));
    log.from = *entry->log_before;
    log.until = entry->log_from;
    log.began = container.last ? container.last->started : WallTime();
  }
  std::function<bool()> goes_on = [this, pod, id = container.run->id] {
    Entry* now = find_pod(pod);
    return now != nullptr && now->container().running() && now->container().run->id == id;
  };
  co_return co_await copy_role_log(clock_, std::move(log), std::move(options), std::move(goes_on),
                                   std::move(write));
}

MirrorPods::Entry* MirrorPods::find_entry(const std::string& key) {
  auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

MirrorPods::Entry* MirrorPods::find_pod(std::string_view name) {
  for (auto& [key, entry] : entries_)
    if (entry.what.name == name) return &entry;
  return nullptr;
}

void MirrorPods::see(const controllers::Object& object) {
  Entry* entry = find_pod(object.meta.name);
  if (entry != nullptr && kube::uid_of(entry->object) == object.meta.uid)
    entry->object = object.json;
  changed();
}

void MirrorPods::lose(const controllers::Object& object) {
  Entry* entry = find_pod(object.meta.name);
  if (entry == nullptr || kube::uid_of(entry->object) != object.meta.uid) return;
  entry->object = nullptr;
  entry->vanished = true;
  changed();
}

void MirrorPods::changed() {
  ++changes_;
  changed_.notify();
}

Task<void> MirrorPods::keep() {
  co_await informer_.wait_synced();
  for (;;) {
    const std::uint64_t seen = changes_;
    co_await remove_strays();
    std::vector<std::string> keys;
    for (const auto& [key, entry] : entries_) keys.push_back(key);
    bool settled = true;
    for (const std::string& key : keys) {
      const bool done = co_await settle(key);
      settled = settled && done;
    }
    if (changes_ != seen) continue;
    if (settled) {
      co_await changed_.wait();
    } else {
      co_await changed_.wait_until(clock_, clock_.steady() + kAgain);
    }
  }
}

// False: try again in a moment.
Task<bool> MirrorPods::settle(std::string key) {
  Entry* entry = find_entry(key);
  if (entry == nullptr || entry->told) co_return true;
  const bool vanished = std::exchange(entry->vanished, false);
  if (vanished || kube::is_being_deleted(entry->object)) co_return co_await lose_pod(key);
  const std::string name = entry->what.name;
  Result<void> done;
  if (entry->object.is_null())
    done = co_await make(key);
  else
    done = co_await write_status(key);
  if (done) co_return true;
  if (done.error().code != Code::unavailable) note(name, done.error());
  co_return false;
}

// A user deletes a pod to restart the process. If the pod was deleted with its node, it goes on.
Task<bool> MirrorPods::lose_pod(std::string key) {
  auto node = co_await get_node(client_, entries_.at(key).what.node);
  Entry* entry = find_entry(key);
  if (entry == nullptr) co_return true;
  if (node && kube::uid_of(*node) == entry->node_uid) {
    entry->told = true;
    if (deleted_) deleted_(key);
    co_return true;
  }
  const json::value object = std::exchange(entry->object, nullptr);
  if (object.is_null()) co_return false;
  auto removed = co_await remove_pod(client_, std::string(kube::name_of(object)),
                                     std::string(kube::uid_of(object)));
  if (!removed) note(kube::name_of(object), removed.error());
  co_return false;
}

// An older pod with this name has no process any more, so it is replaced.
Task<Result<void>> MirrorPods::make(std::string key) {
  const MirrorPod what = entries_.at(key).what;
  auto node = co_await get_node(client_, what.node);
  if (!node) co_return node.error();
  json::value wanted = make_mirror_pod(what, image_.name, kube::uid_of(*node), clock_.wall());
  auto made = co_await client_->create(kube::resources::pods, path_to(""), std::move(wanted));
  if (made) {
    changed();  // then writes its status
    Entry* entry = find_entry(key);
    if (entry != nullptr && entry->hash == hash_of(what)) {
      entry->object = std::move(*made);
      entry->node_uid = kube::uid_of(*node);
    }
    co_return Result<void>();
  }
  if (made.error().code != Code::already_exists) co_return made.error();
  auto other = co_await client_->get(kube::resources::pods, path_to(what.name));
  if (other)
    PLIM_CO_CHECK(co_await remove_pod(client_, what.name, std::string(kube::uid_of(*other))));
  changed();
  co_return Result<void>();
}

Task<Result<void>> MirrorPods::write_status(std::string key) {
  const Entry& entry = entries_.at(key);
  json::value status = make_pod_status(entry.object, entry.facts, clock_.wall());
  if (says_the_same(entry.object, status)) co_return Result<void>();
  const std::string name = entry.what.name, uid(kube::uid_of(entry.object));
  // The status of a node that is not ready stays as others have written it until it is back.
  PLIM_CO_TRY(const json::value node, co_await get_node(client_, entry.what.node));
  if (!is_ready_node(node)) co_return fail(Code::unavailable, "the node is not ready");
  json::value patch =
      json::object{{"metadata", json::object{{"uid", uid}}}, {"status", std::move(status)}};
  auto written = co_await client_->patch(kube::resources::pods, path_to(name, "status"),
                                         kube::PatchType::merge, std::move(patch));
  Entry* now = find_entry(key);
  if (written && now != nullptr && kube::uid_of(now->object) == uid)
    now->object = std::move(*written);
  // The pod is gone or replaced: the informer reports that.
  const bool told =
      written || written.error().code == Code::not_found || written.error().code == Code::conflict;
  co_return told ? Result<void>() : Result<void>(written.error());
}

// A kubelet also deletes mirror pods without a manifest file.
Task<void> MirrorPods::remove_strays() {
  std::vector<std::pair<std::string, std::string>> strays;
  for (const auto& [key, object] : informer_.store())
    if (!kube::annotation_of(object->json, kMirrorAnnotation).empty() &&
        find_pod(object->meta.name) == nullptr)
      strays.emplace_back(object->meta.name, object->meta.uid);
  for (auto& [name, uid] : strays) {
    auto removed = co_await remove_pod(client_, name, uid);
    if (!removed) note(name, removed.error());
  }
}

void MirrorPods::note(std::string_view name, const Error& error) {
  log_.write(log::Level::warn, "up", "cannot show a role as a pod",
             {{"pod", name}, {"error", error}});
}

}  // namespace plim::local::cluster
