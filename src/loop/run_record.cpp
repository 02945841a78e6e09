#include "loop/run_record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/rfc3339.hpp"

namespace plim::loop {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

void put_time(json::object& out, std::string_view name, const std::optional<WallTime>& time) {
  if (time) out[name] = format_rfc3339(*time);
}

void put_text(json::object& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out[name] = text;
}

std::optional<WallTime> time_at(const json::value& value, std::string_view name) {
  auto time = parse_rfc3339(text_at(value, {name}));
  if (!time) return {};
  return *time;
}

std::optional<RunRecord::Result> result_from(std::string_view text) {
  using enum RunRecord::Result;
  for (RunRecord::Result result : {completed, failed, deleted})
    if (name_of(result) == text) return result;
  return {};
}

}  // namespace

std::string RunRecord::key() const {
  return fmt::format("{}/{}/{}", uid, container, restarts);
}

std::optional<std::int64_t> RunRecord::duration() const {
  if (!started || !finished) return {};
  const auto length = floor<seconds>(*finished) - floor<seconds>(*started);
  return std::max<std::int64_t>(0, length.count());
}

std::string_view name_of(RunRecord::Result result) {
  switch (result) {
    case RunRecord::Result::completed:
      return "completed";
    case RunRecord::Result::failed:
      return "failed";
    case RunRecord::Result::deleted:
      return "deleted";
  }
  return "unknown";
}

json::object run_to_json(const RunRecord& run) {
  json::object out;
  out["app"] = run.app;
  out["namespace"] = run.ns;
  out["pod"] = run.pod;
  out["uid"] = run.uid;
  out["container"] = run.container;
  out["restarts"] = run.restarts;
  out["result"] = name_of(run.result);
  if (run.exit_code) out["exitCode"] = *run.exit_code;
  if (auto duration = run.duration()) out["duration"] = *duration;
  put_text(out, "reason", run.reason);
  put_text(out, "message", run.message);
  put_text(out, "node", run.node);
  put_text(out, "image", run.image);
  put_time(out, "created", run.created);
  put_time(out, "podStarted", run.pod_started);
  put_time(out, "started", run.started);
  put_time(out, "finished", run.finished);
  out["resources"] = run.resources;
  if (run.estimate) out["estimate"] = *run.estimate;
  if (run.missing_bytes) out["missingBytes"] = *run.missing_bytes;
  if (run.clock_stepped) out["clock"] = "stepped";
  out["observed"] = format_rfc3339_micro(run.observed);
  return out;
}

plim::Result<RunRecord> run_from_json(const json::value& value) {
  RunRecord out;
  out.uid = text_at(value, {"uid"});
  out.container = text_at(value, {"container"});
  out.app = text_at(value, {"app"});
  if (out.uid.empty() || out.container.empty() || out.app.empty())
    return fail(Code::invalid, "a run needs uid, container and app");
  auto result = result_from(text_at(value, {"result"}));
  if (!result) return fail(Code::invalid, "result: expected completed, failed or deleted");
  out.result = *result;
  out.restarts = int_at(value, {"restarts"}).value_or(0);
  out.exit_code = int_at(value, {"exitCode"});
  out.ns = text_at(value, {"namespace"});
  out.pod = text_at(value, {"pod"});
  out.reason = text_at(value, {"reason"});
  out.message = text_at(value, {"message"});
  out.node = text_at(value, {"node"});
  out.image = text_at(value, {"image"});
  out.created = time_at(value, "created");
  out.pod_started = time_at(value, "podStarted");
  out.started = time_at(value, "started");
  out.finished = time_at(value, "finished");
  if (const json::value* resources = find(value, {"resources"})) out.resources = *resources;
  out.estimate = int_at(value, {"estimate"});
  out.missing_bytes = int_at(value, {"missingBytes"});
  out.clock_stepped = text_at(value, {"clock"}) == "stepped";
  out.observed = time_at(value, "observed").value_or(WallTime{});
  return out;
}

}  // namespace plim::loop
