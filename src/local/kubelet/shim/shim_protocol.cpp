#include "local/kubelet/shim/shim_protocol.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::local::kubelet {

namespace {

json::array encode_texts(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

Result<std::vector<std::string>> decode_texts(const json::value& object, std::string_view key) {
  std::vector<std::string> out;
  const json::value* list = find(object, {key});
  if (list == nullptr) return out;
  if (!list->is_array()) return fail(Code::invalid, fmt::format("{}: expected a list", key));
  for (const json::value& item : list->as_array()) {
    if (!item.is_string()) return fail(Code::invalid, fmt::format("{}: expected texts", key));
    out.emplace_back(item.as_string());
  }
  return out;
}

const json::array* array_at(const json::value& object, std::string_view key) {
  const json::value* list = find(object, {key});
  return list != nullptr ? list->if_array() : nullptr;
}

std::int64_t number_at(const json::value& object, std::string_view key) {
  return int_at(object, {key}).value_or(0);
}

std::string string_at(const json::value& object, std::string_view key) {
  return std::string(text_at(object, {key}));
}

json::value tag_of(const json::value& object) {
  const json::value* tag = find(object, {"tag"});
  return tag != nullptr ? *tag : json::value(json::object());
}

std::int64_t nanos_of(WallTime time) {
  return time.time_since_epoch().count();
}

ShimRun decode_run(const json::value& value) {
  return {.id = string_at(value, "id"),
          .name = string_at(value, "name"),
          .tag = tag_of(value),
          .pid = static_cast<pid_t>(number_at(value, "pid")),
          .pid_start = static_cast<std::uint64_t>(number_at(value, "pidStart")),
          .started = WallTime(Nanos(number_at(value, "started"))),
          .started_monotonic = Nanos(number_at(value, "startedMonotonic")),
          .running = bool_at(value, {"running"}),
          .finished = WallTime(Nanos(number_at(value, "finished"))),
          .finished_monotonic = Nanos(number_at(value, "finishedMonotonic")),
          .exit_code = static_cast<int>(number_at(value, "exitCode")),
          .signal = static_cast<int>(number_at(value, "signal")),
          .error = string_at(value, "error")};
}

// The text after the name in /proc/PID/stat. The name itself may contain spaces and brackets.
std::vector<std::string> stat_fields(pid_t pid) {
  std::vector<std::string> out;
  auto text = read_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return out;
  const auto bracket = text->rfind(')');
  if (bracket == std::string::npos) return out;
  for (std::string_view field : split(trim(std::string_view(*text).substr(bracket + 1)), ' '))
    out.emplace_back(field);
  return out;
}

}  // namespace

json::value encode(const StartSpec& spec) {
  json::object out{{"id", spec.id},
                   {"name", spec.name},
                   {"tag", spec.tag},
                   {"argv", encode_texts(spec.argv)},
                   {"env", encode_texts(spec.env)},
                   {"cwd", spec.cwd},
                   {"log", spec.log},
                   {"cgroup", encode_texts(spec.cgroup)},
                   {"ownMounts", spec.own_mounts},
                   {"ownProcesses", spec.own_processes},
                   {"ownDevices", spec.own_devices},
                   {"hostname", spec.hostname},
                   {"rootfs", spec.rootfs},
                   {"noNewPrivileges", spec.no_new_privileges}};
  json::array mounts, limits, groups;
  for (const ShimMount& mount : spec.mounts)
    mounts.push_back({{"from", mount.from},
                      {"to", mount.to},
                      {"readOnly", mount.read_only},
                      {"volume", mount.volume}});
  for (const ShimRlimit& limit : spec.rlimits)
    limits.push_back({{"resource", limit.resource}, {"soft", limit.soft}, {"hard", limit.hard}});
  for (gid_t group : spec.groups) groups.push_back(static_cast<std::int64_t>(group));
  out["mounts"] = std::move(mounts);
  out["rlimits"] = std::move(limits);
  out["groups"] = std::move(groups);
  if (spec.uid) out["uid"] = static_cast<std::int64_t>(*spec.uid);
  if (spec.gid) out["gid"] = static_cast<std::int64_t>(*spec.gid);
  if (spec.capabilities) out["capabilities"] = static_cast<std::int64_t>(*spec.capabilities);
  return out;
}

Result<StartSpec> decode_start_spec(const json::value& value) {
  StartSpec out;
  out.id = string_at(value, "id");
  out.name = string_at(value, "name");
  out.tag = tag_of(value);
  PLIM_TRY(out.argv, decode_texts(value, "argv"));
  PLIM_TRY(out.env, decode_texts(value, "env"));
  PLIM_TRY(out.cgroup, decode_texts(value, "cgroup"));
  out.cwd = string_at(value, "cwd");
  out.log = string_at(value, "log");
  out.own_mounts = bool_at(value, {"ownMounts"});
  out.own_processes = bool_at(value, {"ownProcesses"});
  out.own_devices = bool_at(value, {"ownDevices"});
  out.hostname = string_at(value, "hostname");
  out.rootfs = string_at(value, "rootfs");
  out.no_new_privileges = bool_at(value, {"noNewPrivileges"});
  if (const json::array* mounts = array_at(value, "mounts"))
    for (const json::value& mount : *mounts)
      out.mounts.push_back({string_at(mount, "from"), string_at(mount, "to"),
                            bool_at(mount, {"readOnly"}), string_at(mount, "volume")});
  if (const json::array* limits = array_at(value, "rlimits"))
    for (const json::value& limit : *limits)
      out.rlimits.push_back({static_cast<int>(number_at(limit, "resource")),
                             static_cast<std::uint64_t>(number_at(limit, "soft")),
                             static_cast<std::uint64_t>(number_at(limit, "hard"))});
  if (const json::array* groups = array_at(value, "groups"))
    for (const json::value& group : *groups)
      if (group.is_int64()) out.groups.push_back(static_cast<gid_t>(group.as_int64()));
  if (auto uid = int_at(value, {"uid"})) out.uid = static_cast<uid_t>(*uid);
  if (auto gid = int_at(value, {"gid"})) out.gid = static_cast<gid_t>(*gid);
  if (auto bits = int_at(value, {"capabilities"}))
    out.capabilities = static_cast<std::uint64_t>(*bits);
  if (out.id.empty()) return fail(Code::invalid, "a start needs an id");
  if (out.argv.empty() || out.argv[0].empty()) return fail(Code::invalid, "no command given");
  return out;
}

json::value encode(const ShimRun& run) {
  json::object out{{"id", run.id},
                   {"name", run.name},
                   {"tag", run.tag},
                   {"pid", run.pid},
                   {"pidStart", run.pid_start},
                   {"started", nanos_of(run.started)},
                   {"startedMonotonic", run.started_monotonic.count()},
                   {"running", run.running}};
  if (!run.error.empty()) out["error"] = run.error;
  if (run.running) return out;
  out["finished"] = nanos_of(run.finished);
  out["finishedMonotonic"] = run.finished_monotonic.count();
  out["exitCode"] = run.exit_code;
  out["signal"] = run.signal;
  return out;
}

json::value encode(const ShimState& state) {
  json::array runs;
  for (const ShimRun& run : state.runs) runs.push_back(encode(run));
  return json::object{{"protocol", state.protocol}, {"pid", state.pid}, {"runs", std::move(runs)}};
}

Result<ShimState> decode_shim_state(const json::value& value) {
  const json::array* runs = array_at(value, "runs");
  if (runs == nullptr) return fail(Code::invalid, "the shim's state has no runs");
  ShimState out{.protocol = static_cast<int>(int_at(value, {"protocol"}).value_or(1)),  // to 0.2.0
                .pid = static_cast<pid_t>(number_at(value, "pid")),
                .runs = {}};
  for (const json::value& run : *runs) out.runs.push_back(decode_run(run));
  return out;
}

Result<void> check_understood(const StartSpec& spec, int protocol) {
  if (protocol >= kShimProtocolWithVolumes) return {};
  for (const ShimMount& mount : spec.mounts)
    if (!mount.volume.empty())
      return fail(Code::unimplemented,
                  fmt::format("an earlier version of plimsoll started the pod, and cannot keep "
                              "subPath at {} within its volume; delete the pod",
                              mount.to));
  return {};
}

std::uint64_t process_start_ticks(pid_t pid) {
  constexpr std::size_t kStartTime = 19;  // field 22, counted from the state after the name
  const auto fields = stat_fields(pid);
  if (fields.size() <= kStartTime) return 0;
  return parse_int<std::uint64_t>(fields[kStartTime]).value_or(0);
}

bool is_alive(pid_t pid, std::uint64_t start_ticks) {
  const auto fields = stat_fields(pid);
  if (fields.empty() || fields[0] == "Z" || fields[0] == "X") return false;
  return process_start_ticks(pid) == start_ticks;
}

}  // namespace plim::local::kubelet
