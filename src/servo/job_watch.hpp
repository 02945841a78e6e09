// Watches the pods of one namespace or of all, and reports every run whose end it sees.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/reflector.hpp"
#include "loop/run_record.hpp"
#include "servo/job.hpp"
#include "servo/metrics.hpp"

namespace plim::servo {

// Uses kube::Reflector, not kube::Informer. An informer keeps every pod, and does not report a pod
// whose first event is its deletion. This class keeps only jobs, a few hundred bytes each, and
// looks at every object of lists and watches. The reflector does the rest: lists in pages of 500,
// watches of 300 to 600 s with bookmarks, a new list after 410, back-off.
//
// Belongs to one loop; co_await stop() before destroying it. May report the same run many times.
class JobWatch final : private kube::Reflector::Target {
 public:
  using OnEnd = std::function<void(loop::RunRecord run)>;

  // `ns` "": all namespaces. The rules, metrics and clock must outlive it.
  JobWatch(const Executor& loop, std::shared_ptr<kube::Client> client, std::string ns,
           const JobRules& rules, Metrics& metrics, OnEnd on_end, Clock& clock,
           Random& random = system_random());

  void start();
  Task<void> stop();

  bool synced() const { return synced_; }

  // Why ends of jobs may be missed: the first list is not complete, or a permission is missing.
  // "" if nothing is wrong, or if the next retry may succeed.
  std::string not_ready() const;

  // A job whose pod existed in the last list or event.
  bool is_present(const std::string& uid) const { return jobs_.contains(uid); }

  std::size_t jobs() const { return jobs_.size(); }

  const kube::Reflector::Stats& stats() const { return reflector_.stats(); }

 private:
  struct Job {
    std::string open;  // the run to report if the pod disappears; "": it has ended. JSON
    // takes a third of a record's memory, and is rarely parsed
    std::uint64_t listing = 0;  // number of the last list that had the pod
    bool is_over = false;       // the run has ended, and the pod never starts another
  };

  void begin_replace() override;
  Result<kube::ListMeta> add_page(kube::JsonText list) override;
  Result<void> apply(kube::WatchEvent::Type type, kube::JsonText object) override;
  Result<void> cannot_read(Error error) override;
  void end_replace() override;
  enum class Look { first, listed, again };
  bool is_known_to_be_over(kube::JsonText object, Seen seen);
  void look(kube::JsonText object, Seen seen, Look which);
  void leave_out(std::string_view error);

  std::string ns_;
  const JobRules& rules_;
  Metrics& metrics_;
  OnEnd on_end_;
  Clock& clock_;
  std::unordered_map<std::string, Job> jobs_;  // by uid
  kube::InternPool names_;                     // of the metadata that decode_meta reads
  std::uint64_t listing_ = 0;
  bool synced_ = false;
  kube::Reflector reflector_;
  TaskGroup tasks_;
};

}  // namespace plim::servo
