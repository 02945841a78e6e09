#include "agent/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/log.hpp"

namespace plim::agent {
namespace {

constexpr std::chrono::milliseconds kReaderPatience{500};  // with the reader of a pipe, per batch

// The loop waits for the write, so a stuck reader loses the rest of the batch. A pipe that is ready
// takes this many bytes without waiting, even in blocking mode (pipe(7)); a file takes all at once.
Result<void> write_all(int fd, std::string_view text, const std::string& what, const Clock& clock) {
  struct stat info{};
  const bool is_file = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const std::size_t at_once = is_file ? text.size() : PIPE_BUF;
  const SteadyTime until = clock.steady() + kReaderPatience;
  while (!text.empty()) {
    if (!is_file) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock.steady());
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      const int found = ::poll(&ready, 1, std::max(0, static_cast<int>(left.count())));
      if (found == 0) return fail(Code::timeout, fmt::format("no process reads {}", what));
      if (found < 0) continue;
    }
    const ssize_t written = ::write(fd, text.data(), std::min(text.size(), at_once));
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR && errno != EAGAIN)
      return fail_errno(errno, fmt::format("cannot write {}", what));
  }
  return {};
}

std::int64_t millis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

class LogStorage final : public Storage {
 public:
  LogStorage(StorageConfig config, std::vector<std::string> names, bool only_names)
      : config_(std::move(config)), names_(std::move(names)), only_names_(only_names) {}

  std::string_view name() const override { return "LogStorage"; }

  Result<void> store(MetricTable& table, WallTime now, const Clock& clock) override {
    text_ = cut_ && !config_.overwrite ? "\n" : "";
    RenderOptions options;
    if (config_.timestamps.value_or(!config_.overwrite)) options.timestamp_ms = millis(now);
    if (config_.labels) options.labels = &*config_.labels;
    if (only_names_) options.names = &names_;
    if (table.render(text_, options) && !std::exchange(warned_, true))
      log::warn("storage", "filter_labels makes samples equal; only the last of them is kept");
    if (config_.overwrite) {
      constexpr WriteOptions kReadable{.mode = 0644, .sync = false};
      return write_file(config_.file, text_, kReadable);
    }
    text_ += '\n';
    if (!config_.file.empty()) PLIM_CHECK(open());
    auto written = config_.file.empty() ? write_all(STDERR_FILENO, text_, "standard error", clock)
                                        : write_all(fd_.get(), text_, config_.file, clock);
    cut_ = !written;
    if (cut_) fd_.reset();
    return written;
  }

 private:
  // Opens the file again after it was rotated away.
  Result<void> open() {
    struct stat there{}, ours{};
    const bool same = fd_ && ::stat(config_.file.c_str(), &there) == 0 &&
                      ::fstat(fd_.get(), &ours) == 0 && there.st_ino == ours.st_ino &&
                      there.st_dev == ours.st_dev;
    if (same) return {};
    fd_ = Fd(::open(config_.file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
    if (!fd_) return fail_errno(errno, fmt::format("cannot open {}", config_.file));
    return {};
  }

  StorageConfig config_;
  std::vector<std::string> names_;
  bool only_names_;
  std::string text_;
  Fd fd_;
  bool cut_ = false;  // the last batch may have ended within a line
  bool warned_ = false;
};

class EndpointStorage final : public Storage {
 public:
  EndpointStorage(std::shared_ptr<Scrape> scrape, std::vector<std::string> names, bool only_names)
      : scrape_(std::move(scrape)), names_(std::move(names)), only_names_(only_names) {}

  std::string_view name() const override { return "PrometheusEndpoint"; }

  // Alternates between two texts: an answer in progress keeps the last one.
  Result<void> store(MetricTable& table, WallTime, const Clock&) override {
    if (!spare_ || spare_.use_count() > 1) spare_ = std::make_shared<std::string>();
    spare_->clear();
    RenderOptions options;
    if (only_names_) options.names = &names_;
    table.render(*spare_, options);
    std::swap(spare_, scrape_->text);
    return {};
  }

 private:
  std::shared_ptr<Scrape> scrape_;
  std::shared_ptr<std::string> spare_;
  std::vector<std::string> names_;
  bool only_names_;
};

class ManyStorages final : public Storage {
 public:
  explicit ManyStorages(std::vector<std::unique_ptr<Storage>> storages)
      : storages_(std::move(storages)) {}

  std::string_view name() const override { return "FilterStorage"; }

  // Stores to all; returns the first failure.
  Result<void> store(MetricTable& table, WallTime now, const Clock& clock) override {
    Result<void> out;
    for (auto& storage : storages_)
      if (auto done = storage->store(table, now, clock); !done && out) out = std::move(done);
    return out;
  }

 private:
  std::vector<std::unique_ptr<Storage>> storages_;
};

std::unique_ptr<Storage> make_one(const StorageConfig& config, const StorageConfig* filter,
                                  std::vector<std::shared_ptr<Scrape>>& scrapes) {
  const bool only_names = filter != nullptr && filter->names.has_value();
  std::vector<std::string> names = only_names ? *filter->names : std::vector<std::string>{};
  if (config.kind != StorageConfig::Kind::endpoint)
    return std::make_unique<LogStorage>(config, std::move(names), only_names);
  auto known = std::ranges::find_if(
      scrapes, [&](const auto& scrape) { return scrape->listen == config.listen; });
  if (known == scrapes.end()) {
    scrapes.push_back(std::make_shared<Scrape>(Scrape{.listen = config.listen, .text = {}}));
    known = scrapes.end() - 1;
  }
  return std::make_unique<EndpointStorage>(*known, std::move(names), only_names);
}

}  // namespace

std::unique_ptr<Storage> make_storage(const StorageConfig& config,
                                      std::vector<std::shared_ptr<Scrape>>& scrapes) {
  if (config.kind != StorageConfig::Kind::filter) return make_one(config, nullptr, scrapes);
  std::vector<std::unique_ptr<Storage>> below;
  for (const StorageConfig& one : config.storages) below.push_back(make_one(one, &config, scrapes));
  return std::make_unique<ManyStorages>(std::move(below));
}

}  // namespace plim::agent
