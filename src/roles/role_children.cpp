#include "roles/role_children.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/backoff.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "roles/free_address.hpp"
#include "roles/local_crds.hpp"

namespace plim::roles {
namespace {

constexpr std::chrono::milliseconds kLook{500};
constexpr std::chrono::seconds kGrace{5}, kStable{30};
constexpr const char* kParent = "PLIMSOLL_ROLE_PARENT";

const local::apiserver::User kUpUser{.name = "plimsoll-up",
                                     .groups = {"system:masters", "system:authenticated"}};

std::string child_name(const RoleRow& row, std::string_view node) {
  return node.empty() ? std::string(row.process) : fmt::format("{}-{}", row.process, node);
}

}  // namespace

struct RoleChildren::Child {
  std::string name;
  const RoleRow* row = nullptr;  // the first role of its process
  json::value node;
  std::string url = {};
  std::vector<std::string> serves = {};     // the roles that listen at `url`
  std::vector<HeldAddress> addresses = {};  // reserved for it
  bool kept = false;                        // a task runs keep()
  bool registered = false;                  // register_roles() is done with it, also if it failed
  bool renew = false;                       // its pod was deleted
  local::cluster::MirrorPod shown = {};
  std::optional<Process> process = {};
  TaskGroup::Handle handle = {};
};

Result<std::vector<const RoleRow*>> parse_roles(std::string_view text) {
  std::vector<const RoleRow*> out;
  if (trim(text) == "none" || trim(text).empty()) return out;
  for (std::string_view part : split(text, ',')) {
    const std::string_view name = trim(part);
    bool known = name.empty();
    for (const RoleRow& row : role_rows())
      if (name == row.name || name == "all") {
        known = true;
        if (std::ranges::find(out, &row) == out.end()) out.push_back(&row);
      }
    if (known) continue;
    std::string names = "all, none";
    for (const RoleRow& row : role_rows()) names += fmt::format(", {}", row.name);
    return fail(Code::invalid, fmt::format("{} is not a role; expected {}", quote(name), names));
  }
  return out;
}

RoleChildren::RoleChildren(Executor loop, Clock& clock, local::cluster::Cluster& cluster,
                           const local::cluster::ClusterDirectories& directories,
                           std::vector<const RoleRow*> rows, RoleSettings settings)
    : loop_(loop),
      clock_(clock),
      cluster_(cluster),
      directories_(directories),
      rows_(std::move(rows)),
      settings_(std::move(settings)),
      client_(cluster.api().client(kUpUser)),
      progress_(loop),
      tasks_(loop),
      ending_(loop) {
  std::error_code problem;
  program_ = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  cluster_.mirrors().on_delete([this](const std::string& name) { renew(name); });
}

RoleChildren::~RoleChildren() {
  cluster_.mirrors().on_delete({});
}

Task<void> RoleChildren::register_roles() {
  if (rows_.empty()) co_return;
  arrange();
  const auto registered = [this] {
    return std::ranges::all_of(children_, [](const auto& entry) {
      return entry.second->row->prepare == nullptr || entry.second->registered;
    });
  };
  while (!registered()) co_await progress_.wait();
}

void RoleChildren::start() {
  tasks_.spawn("our kinds", prepare_cluster());
  if (!rows_.empty()) tasks_.spawn("nodes", watch_nodes());
}

Task<void> RoleChildren::prepare_cluster() {
  if (!rows_.empty()) {
    const Result<void> installed = co_await install_crds(client_);
    if (!installed)
      log::warn("up", "cannot install the custom resources", {{"error", installed.error()}});
  }
  kinds_installed_ = true;
  progress_.notify();
  for (const RoleRow& row : role_rows()) {
    if (row.withdraw == nullptr || std::ranges::find(rows_, &row) != rows_.end()) continue;
    const Result<void> done = co_await row.withdraw(client_);
    if (!done)
      log::warn("up", "cannot delete the objects of a role",
                {{"role", row.name}, {"error", done.error()}});
  }
}

std::vector<std::string> RoleChildren::parts_of(const RoleRow& row) const {
  std::vector<std::string> out;
  for (const RoleRow* one : rows_)
    if (one->process == row.process) out.emplace_back(one->name);
  return out;
}

// Arranges one child per process, or per process and running node. Ends children that are not
// needed.
void RoleChildren::arrange() {
  std::map<std::string, std::shared_ptr<Child>> wanted;
  const auto want = [&](const RoleRow& row, json::value node) {
    const std::string name = child_name(row, text_at(node, {"name"}));
    if (wanted.contains(name)) return;  // another role of the process added it
    if (auto known = children_.find(name); known != children_.end()) {
      wanted.insert(children_.extract(known));
      return;
    }
    wanted[name] =
        std::make_shared<Child>(Child{.name = name, .row = &row, .node = std::move(node)});
  };
  const json::value nodes = cluster_.nodes().list();
  for (const RoleRow* row : rows_) {
    if (!row->per_node) {
      want(*row, nullptr);
      continue;
    }
    for (const json::value& node : nodes.at("items").as_array())
      if (text_at(node, {"state"}) == "Running") want(*row, node);
  }
  const bool changed = !children_.empty() || std::ranges::any_of(wanted, [](const auto& entry) {
    return !entry.second->kept;
  });
  for (auto& [name, child] : children_) ending_.spawn("end " + name, end(child));
  children_ = std::move(wanted);
  show_elsewhere(nodes);
  if (!changed) return;
  for (auto& [name, child] : children_)
    if (!std::exchange(child->kept, true))
      child->handle = tasks_.spawn("role " + name, keep(child));
  write_endpoints();
}

// A role of the whole cluster has its pod on one node. If that node was removed, the pod moves to
// another.
void RoleChildren::show_elsewhere(const json::value& nodes) {
  for (auto& [name, child] : children_) {
    if (child->row->per_node || child->shown.name.empty()) continue;
    const auto is_home = [&](const json::value& node) {
      return text_at(node, {"name"}) == child->shown.node;
    };
    if (std::ranges::any_of(nodes.at("items").as_array(), is_home)) continue;
    const json::value first = cluster_.nodes().first();
    if (!first.is_object()) continue;
    child->shown = role_pod(*child->row, first, child->shown.command, child->shown.log);
    cluster_.mirrors().move(name, child->shown);
  }
}

// The pod was deleted: end the process, and start another one with a new pod.
void RoleChildren::renew(const std::string& name) {
  auto found = children_.find(name);
  if (found == children_.end()) return;
  found->second->renew = true;
  progress_.notify();
  if (found->second->process) tasks_.spawn("renew " + name, end_process(found->second));
}

Task<void> RoleChildren::end_process(std::shared_ptr<Child> child) {
  const pid_t pid = child->process->pid();
  child->process->signal(SIGTERM);
  co_await clock_.sleep(kGrace);
  if (child->process && child->process->pid() == pid) child->process->signal(SIGKILL);
}

Task<void> RoleChildren::watch_nodes() {
  for (;;) {
    co_await clock_.sleep(kLook);
    arrange();
  }
}

std::string RoleChildren::log_of(const Child& child) const {
  return fmt::format("{}/{}.log", roles_directory(), child.name);
}

std::string RoleChildren::roles_directory() const {
  return directories_.state + "/roles";
}

// The command line of a child, with addresses reserved for it.
Result<RoleLaunch> RoleChildren::launch(Child& child) {
  child.addresses.clear();
  const auto address = [&](const std::string& host, int port) {
    child.addresses.push_back(hold_free_address(host, port));
    return child.addresses.back().text;
  };
  RolePlace place{.directories = directories_,
                  .kubeconfig = cluster_.kubeconfig(),
                  .node = child.node,
                  .parts = parts_of(*child.row),
                  .directory = roles_directory(),
                  .settings = settings_,
                  .free_address = address};
  auto out = child.row->launch(place);
  if (!out) return out;
  child.url = out->url;
  child.serves = place.parts;
  for (const std::string& part : out->missing) std::erase(child.serves, part);
  write_endpoints();
  return out;
}

// Creates the objects it needs on the cluster. False: that failed for now.
Task<bool> RoleChildren::prepare(std::shared_ptr<Child> child) {
  if (child->row->prepare == nullptr) co_return true;
  const Result<void> done = co_await child->row->prepare(client_, child->url);
  child->registered = true;
  progress_.notify();
  if (!done)
    log::warn("up", "a role cannot start", {{"role", child->name}, {"error", done.error()}});
  co_return done.has_value();
}

// Runs the process to its end. Its output goes to its own log file.
Task<Result<Exit>> RoleChildren::run_process(std::shared_ptr<Child> child,
                                             std::vector<std::string> words) {
  const std::string log_file = log_of(*child);
  const Fd output(::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  plim::Command command{.argv = {program_}};
  std::ranges::move(words, std::back_inserter(command.argv));
  command.env = {{kParent, std::to_string(::getpid())}};
  if (output) {
    command.out = Output::to(output.get());
    command.err = Output::to(output.get());
  }
  show(*child, command.argv, log_file);
  auto process = Process::spawn(loop_, command);
  if (!process) co_return process.error();
  child->process = std::move(*process);
  Exit exit = co_await child->process->wait();
  child->process.reset();
  co_return exit;
}

// Logs the end and sets the status of the pod.
void RoleChildren::report_end(const Child& child, const Result<Exit>& exit, Nanos pause) {
  if (!exit) {
    cluster_.mirrors().cannot_begin(child.name, exit.error().message, pause);
    log::warn("up", "a role cannot start", {{"role", child.name}, {"error", exit.error()}});
    return;
  }
  cluster_.mirrors().has_ended(child.name, exit->code, exit->signal, pause);
  if (!child.renew)
    log::warn("up", "a role exited; restarting it",
              {{"role", child.name}, {"exit", exit->describe()}, {"log", log_of(child)}});
}

// Restarts the child until it is cancelled.
Task<void> RoleChildren::keep(std::shared_ptr<Child> child) {
  Backoff backoff(Backoff::Options{.first = std::chrono::seconds(1), .jitter = 0.1});
  (void)make_directories(roles_directory(), 0700);
  for (;;) {
    auto launched = launch(*child);
    if (!launched) {
      log::warn("up", "a role cannot start", {{"role", child->name}, {"error", launched.error()}});
      child->registered = true;
      progress_.notify();
      co_return;
    }
    const bool prepared = co_await prepare(child);
    if (!prepared) {
      co_await rest(child, backoff.next());
      continue;
    }
    while (!kinds_installed_) co_await progress_.wait();
    const SteadyTime began = clock_.steady();
    const Result<Exit> exit = co_await run_process(child, std::move(launched->words));
    if (clock_.steady() - began > kStable) backoff.reset();
    const Nanos pause = child->renew ? Nanos(0) : backoff.next();
    report_end(*child, exit, pause);
    co_await rest(child, pause);
  }
}

// Waits until the pause is over or the pod was deleted.
Task<void> RoleChildren::rest(std::shared_ptr<Child> child, Nanos pause) {
  const SteadyTime until = clock_.steady() + pause;
  while (!child->renew && clock_.steady() < until) co_await progress_.wait_until(clock_, until);
  if (!std::exchange(child->renew, false)) co_return;
  log::info("up", "restarting a role, because its pod was deleted", {{"role", child->name}});
  cluster_.mirrors().renew(child->name);
}

// Shows the child as a pod on its node. Without nodes it has no pod.
void RoleChildren::show(Child& child, const std::vector<std::string>& words,
                        const std::string& log_file) {
  if (std::exchange(child.renew, false)) cluster_.mirrors().renew(child.name);
  const json::value node = child.row->per_node ? child.node : cluster_.nodes().first();
  if (!node.is_object()) return;
  child.shown = role_pod(*child.row, node, words, log_file);
  cluster_.mirrors().begins(child.name, child.shown);
}

Task<void> RoleChildren::end(std::shared_ptr<Child> child) {
  // Withdraw the pod first: a child with the same name may start before this one has ended.
  cluster_.mirrors().withdraw(child->name);
  child->handle.cancel();
  if (child->process) co_await child->process->stop(kGrace);
  child->process.reset();
}

Task<void> RoleChildren::stop() {
  co_await tasks_.stop();
  for (auto& [name, child] : children_) ending_.spawn("end " + name, end(child));
  co_await ending_.join();
  co_await ending_.stop();
  children_.clear();
}

// Adds the roles to the entries that the cluster has written.
void RoleChildren::write_endpoints() {
  auto text = read_file(directories_.endpoints());
  auto value = text ? parse_json(*text) : json::value(json::object());
  if (!value || !value->is_object()) return;
  json::object roles;
  for (const auto& [name, child] : children_) {
    if (child->url.empty()) continue;
    for (const std::string& key : child->serves) {
      if (!child->row->per_node) {
        roles[key] = child->url;
        continue;
      }
      if (!roles.contains(key)) roles[key] = json::object();
      roles[key].as_object()[text_at(child->node, {"name"})] = child->url;
    }
  }
  value->as_object()["roles"] = std::move(roles);
  constexpr WriteOptions kPrivate{.mode = 0600, .sync = false};
  auto written = write_file(directories_.endpoints(), to_json_indented(*value) + "\n", kPrivate);
  if (!written) log::warn("up", "cannot update endpoints.json", {{"error", written.error()}});
}

void end_with_parent() {
  const char* parent = std::getenv(kParent);
  if (parent == nullptr) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before prctl().
  if (std::to_string(::getppid()) != parent) ::raise(SIGTERM);
  ::unsetenv(kParent);
}

}  // namespace plim::roles
