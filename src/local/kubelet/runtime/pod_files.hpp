// The files in a pod's directory, and the note from which a restarted node recognizes the pod.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::kubelet {

// Written before any container starts.
struct PodNote {
  json::value pod;  // as it was then
  std::string pod_ip;
  WallTime start_time{};
};

// Times of a run that are more exact than the shim's; zero: not known.
struct RunTimes {
  WallTime started{}, finished{};
  Nanos started_monotonic{0}, finished_monotonic{0};
};

class PodFiles {
 public:
  explicit PodFiles(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }

  Result<void> make() const;
  Result<void> write_note(const PodNote& note) const;
  std::optional<PodNote> read_note() const;

  std::string log(std::string_view container, int restart) const;
  std::string termination_log(std::string_view container, int restart) const;
  // Creates empty files for a new run. Of the earlier runs only the last one is kept.
  Result<void> make_run(std::string_view container, int restart) const;
  Result<void> write_times(std::string_view container, int restart, const RunTimes& times) const;
  RunTimes read_times(std::string_view container, int restart) const;
  // The termination message of a container, or the end of its log if the spec asks for it.
  std::string last_words(const json::value& container, int restart, bool failed) const;

  // The last lines of a run's log, without time stamps.
  std::string end_of_log(std::string_view container, int restart) const;

  void remove_everything() const;

 private:
  std::string times(std::string_view container, int restart) const;

  std::string directory_;
};

}  // namespace plim::local::kubelet
