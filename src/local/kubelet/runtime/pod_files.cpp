#include "local/kubelet/runtime/pod_files.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/cri_log.hpp"

namespace plim::local::kubelet {

namespace {

constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kLogLines = 80, kLogBytes = 2048;  // of a log used as the message

std::string last_lines(const std::string& path) {
  const auto text = read_file(path, 4 * CriLog::kDefaultLimit);
  if (!text) return {};
  std::vector<std::string_view> lines = split(trim(*text), '\n');
  std::string out;
  for (std::size_t i = lines.size() > kLogLines ? lines.size() - kLogLines : 0; i < lines.size();
       ++i) {
    std::string_view line = lines[i];
    for (int field = 0; field < 3; ++field) line = cut(line, ' ').second;
    out += line;
    out += '\n';
  }
  return out.size() > kLogBytes ? out.substr(out.size() - kLogBytes) : out;
}

}  // namespace

Result<void> PodFiles::make() const {
  PLIM_CHECK(make_directories(directory_, 0700));
  for (std::string_view name : {"volumes", "work", "logs"})
    PLIM_CHECK(make_directories(fmt::format("{}/{}", directory_, name)));
  // A container may run as another user. The directory above keeps other pods out.
  ::chmod((directory_ + "/work").c_str(), 0777);
  return {};
}

Result<void> PodFiles::write_note(const PodNote& note) const {
  const json::object text{
      {"pod", note.pod}, {"podIP", note.pod_ip}, {"startTime", format_rfc3339(note.start_time)}};
  return write_file(directory_ + "/pod.json", to_json(text),
                    WriteOptions{.mode = 0600, .sync = false});
}

std::optional<PodNote> PodFiles::read_note() const {
  const auto text = read_file(directory_ + "/pod.json");
  if (!text) return std::nullopt;
  const auto value = parse_json(*text);
  if (!value || find(*value, {"pod"}) == nullptr) return std::nullopt;
  const auto time = parse_rfc3339(text_at(*value, {"startTime"}));
  return PodNote{.pod = *find(*value, {"pod"}),
                 .pod_ip = std::string(text_at(*value, {"podIP"})),
                 .start_time = time ? *time : WallTime()};
}

std::string PodFiles::log(std::string_view container, int restart) const {
  return fmt::format("{}/logs/{}/{}.log", directory_, container, restart);
}

std::string PodFiles::termination_log(std::string_view container, int restart) const {
  return fmt::format("{}/logs/{}/{}.end", directory_, container, restart);
}

std::string PodFiles::times(std::string_view container, int restart) const {
  return fmt::format("{}/logs/{}/{}.times", directory_, container, restart);
}

Result<void> PodFiles::write_times(std::string_view container, int restart,
                                   const RunTimes& known) const {
  const json::object text{{"started", known.started.time_since_epoch().count()},
                          {"startedMonotonic", known.started_monotonic.count()},
                          {"finished", known.finished.time_since_epoch().count()},
                          {"finishedMonotonic", known.finished_monotonic.count()}};
  return write_file(times(container, restart), to_json(text),
                    WriteOptions{.mode = 0600, .sync = false});
}

RunTimes PodFiles::read_times(std::string_view container, int restart) const {
  const auto text = read_file(times(container, restart));
  if (!text) return {};
  const auto value = parse_json(*text);
  if (!value) return {};
  const auto at = [&](std::string_view name) { return Nanos(int_at(*value, {name}).value_or(0)); };
  return {.started = WallTime(at("started")),
          .finished = WallTime(at("finished")),
          .started_monotonic = at("startedMonotonic"),
          .finished_monotonic = at("finishedMonotonic")};
}

Result<void> PodFiles::make_run(std::string_view container, int restart) const {
  PLIM_CHECK(make_directories(fmt::format("{}/logs/{}", directory_, container)));
  PLIM_CHECK(write_file(log(container, restart), "", WriteOptions{.mode = 0600, .sync = false}));
  PLIM_CHECK(write_file(termination_log(container, restart), "",
                        WriteOptions{.mode = 0666, .sync = false}));
  if (restart < 2) return {};
  (void)remove_file(termination_log(container, restart - 2));
  (void)remove_file(times(container, restart - 2));
  (void)remove_file(log(container, restart - 2));
  for (int i = 1; i < CriLog::kKept; ++i)
    (void)remove_file(fmt::format("{}.{}", log(container, restart - 2), i));
  return {};
}

std::string PodFiles::last_words(const json::value& container, int restart, bool failed) const {
  auto message =
      read_file(termination_log(kube::text_at(container, "Container.name"), restart), 1 << 20);
  if (message && !message->empty()) return message->substr(0, kMaxMessage);
  if (failed &&
      kube::text_at(container, "Container.terminationMessagePolicy") == "FallbackToLogsOnError")
    return end_of_log(kube::text_at(container, "Container.name"), restart);
  return {};
}

std::string PodFiles::end_of_log(std::string_view container, int restart) const {
  return last_lines(log(container, restart));
}

void PodFiles::remove_everything() const {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace plim::local::kubelet
