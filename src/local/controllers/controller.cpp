#include "local/controllers/controller.hpp"

namespace plim::local::controllers {
namespace {

struct Countdown {
  explicit Countdown(const Executor& loop) : done(loop) {}

  std::size_t left = 0;
  Event done;
};

Task<void> count_down(Task<void> call, std::shared_ptr<Countdown> countdown) {
  co_await std::move(call);
  if (--countdown->left == 0) countdown->done.notify();
}

// Deleted, or replaced by another object of the same name.
bool is_gone(const Error& error) {
  return error.code == Code::not_found;
}

}  // namespace

Controller::Controller(const ControllerContext& context, ControllerIdentity identity)
    : loop_(context.loop),
      client_(context.client),
      clock_(context.clock),
      informers_(context.informers),
      tasks_(context.loop),
      identity_(std::move(identity)),
      queue_(context.loop, {}, context.clock),
      recorder_(context.loop, context.client, {.component = identity_.component}, context.clock) {}

Controller::~Controller() = default;

void Controller::start() {
  recorder_.start();
  for (unsigned i = 0; i < identity_.workers; ++i) tasks_.spawn(identity_.name, work());
}

Task<void> Controller::stop() {
  co_await tasks_.stop();
  co_await recorder_.stop();
}

bool Controller::idle() const {
  return queue_.size() == 0 && queue_.working() == 0;
}

void Controller::enqueue(const std::string& key) {
  queue_.add(key);
}

void Controller::enqueue_after(const std::string& key, Nanos delay) {
  queue_.add_after(key, delay);
}

int Controller::failures(const std::string& key) const {
  return queue_.failures(key);
}

Task<void> Controller::work() {
  for (;;) {
    const std::string key = co_await queue_.next();
    auto outcome = co_await reconcile(key);
    if (outcome) {
      queue_.forget(key);
    } else {
      // Conflicts are normal: the cache lags behind the server. Log them at a lower level.
      const Code code = outcome.error().code;
      const bool race = code == Code::conflict || code == Code::not_found;
      const auto level = race ? log::Level::debug : log::Level::warn;
      if (log::enabled(level))
        log_.write(level, identity_.name, "will try again",
                   {{"key", key}, {"error", outcome.error()}});
      queue_.retry(key);
    }
    queue_.done(key);
  }
}

void Controller::record(const Parent& about, kube::EventNote::Type type, std::string_view reason,
                        std::string message) {
  kube::EventNote note;
  note.about = {.api_version = kube::api_version(about.resource),
                .kind = about.resource.kind,
                .ns = about.ns,
                .name = about.name,
                .uid = about.uid,
                .resource_version = about.resource_version};
  note.type = type;
  note.reason = reason;
  note.message = std::move(message);
  recorder_.record(note);
}

Task<void> Controller::together(std::vector<Task<void>> calls) {
  if (calls.empty()) co_return;
  auto countdown = std::make_shared<Countdown>(loop_);
  countdown->left = calls.size();
  for (Task<void>& call : calls)
    tasks_.spawn(identity_.name, count_down(std::move(call), countdown));
  while (countdown->left > 0) co_await countdown->done.wait();
}

Task<Result<void>> Controller::adopt(kube::Resource kind, kube::ObjectPath path, std::string uid,
                                     Parent parent) {
  json::value patch{{"metadata", {{"uid", uid}}}};
  PLIM_CO_CHECK(kube::set_owner(patch, parent.controller_reference()));
  auto patched = co_await client_->patch(std::move(kind), std::move(path),
                                         kube::PatchType::strategic, std::move(patch));
  if (!patched && !is_gone(patched.error())) co_return std::move(patched).error();
  co_return Result<void>();
}

Task<Result<void>> Controller::release(kube::Resource kind, kube::ObjectPath path, std::string uid,
                                       Parent parent) {
  json::object reference{{"$patch", "delete"}, {"uid", parent.uid}};
  json::array references;
  references.push_back(std::move(reference));
  json::value patch{{"metadata", {{"uid", uid}, {"ownerReferences", std::move(references)}}}};
  auto patched = co_await client_->patch(std::move(kind), std::move(path),
                                         kube::PatchType::strategic, std::move(patch));
  if (!patched && !is_gone(patched.error())) co_return std::move(patched).error();
  co_return Result<void>();
}

Task<Result<bool>> Controller::may_adopt(Parent parent) {
  auto live = co_await client_->get(parent.resource, parent.path());
  if (!live && is_gone(live.error())) co_return false;
  if (!live) co_return std::move(live).error();
  co_return kube::uid_of(*live) == parent.uid && !kube::is_being_deleted(*live);
}

Task<Result<bool>> Controller::write_status(kube::Resource kind, ObjectPointer object,
                                            json::value status) {
  const json::value* before = kube::find(object->json, "Deployment.status");
  if (before && *before == status) co_return false;
  kube::ObjectPath path = Parent(kind, object->meta).path("status");
  json::value changed = object->json;
  changed.as_object()[kube::key("Deployment.status")] = std::move(status);
  PLIM_CO_TRY(json::value written,
              co_await client_->update(std::move(kind), std::move(path), std::move(changed)));
  co_return true;
}

Claim classify_claim(const kube::ObjectMeta& object, std::string_view parent_uid,
                     bool parent_deleting, bool matches) {
  if (const kube::Owner* owner = controller_of(object)) {
    if (owner->uid != parent_uid) return Claim::foreign;
    if (matches) return Claim::mine;
    return parent_deleting ? Claim::foreign : Claim::release;
  }
  if (parent_deleting || !matches || object.deleted) return Claim::foreign;
  return Claim::adopt;
}

bool is_namespace_terminating(const Error& error) {
  return error.code == Code::forbidden &&
         error.message.find("because it is being terminated") != std::string::npos;
}

}  // namespace plim::local::controllers
