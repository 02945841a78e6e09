#include "kube/credentials.hpp"

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/event.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/exec_plugin.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

constexpr auto kMaxTokenAge = 60s;
constexpr std::size_t kMaxTokenFile = 1u << 20;

// Credentials that never change: a token, a password, or none.
class FixedCredentials final : public Credentials {
 public:
  explicit FixedCredentials(std::string authorization) {
    identity_.authorization = std::move(authorization);
  }

  Task<Result<Identity>> current() override { co_return identity_; }

  bool rejected(std::uint64_t) override { return false; }

 private:
  Identity identity_;
};

// The kubelet replaces the token of a pod before it expires. It swaps a symbolic link, so that the
// same path leads to another file.
class TokenFile final : public Credentials {
 public:
  TokenFile(std::string path, const std::string& fallback, Clock& clock)
      : path_(std::move(path)), clock_(clock) {
    if (!fallback.empty()) set_token(fallback);
  }

  Task<Result<Identity>> current() override {
    const Stamp now = stamp();
    if (!read_at_ || now != stamp_ || clock_.steady() - *read_at_ >= kMaxTokenAge) {
      auto read = read_again(now);
      if (!read && identity_.generation == 0) {
        Error error = read.error().with_context("token file");
        error.code = Code::unauthorized;  // not_found would mean the object of the request
        co_return error;
      }
      // The old token may still be valid; the server decides.
      if (!read)
        problem_.write(log::Level::warn, "kube", "keeping the old token",
                       {{"error", read.error()}});
    }
    co_return identity_;
  }

  bool rejected(std::uint64_t generation) override {
    if (generation == identity_.generation && !read_again(stamp())) return false;
    return generation != identity_.generation;
  }

 private:
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;  // -1: the file does not exist
    std::int64_t changed = 0;
    bool operator==(const Stamp&) const = default;
  };

  Stamp stamp() const {
    struct stat info{};
    if (::stat(path_.c_str(), &info) != 0) return {};
    return {.device = info.st_dev,
            .inode = info.st_ino,
            .size = info.st_size,
            .changed = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
  }

  Result<void> read_again(Stamp seen) {
    PLIM_TRY(const std::string text, read_file(path_, kMaxTokenFile));
    const std::string_view token = trim(text);
    if (token.empty() || token.find_first_of("\r\n") != token.npos)
      return fail(Code::unauthorized, fmt::format("{}: expected one token", path_));
    stamp_ = seen;
    read_at_ = clock_.steady();
    set_token(token);
    return {};
  }

  void set_token(std::string_view token) {
    std::string authorization = fmt::format("Bearer {}", token);
    if (authorization == identity_.authorization) return;
    identity_.authorization = std::move(authorization);
    ++identity_.generation;
  }

  std::string path_;
  Clock& clock_;
  Identity identity_;
  Stamp stamp_;  // taken before the read, so that a change during the read is noticed next time
  std::optional<SteadyTime> read_at_;
  log::Throttle problem_;
};

// Runs the plugin when its credential has expired or was refused. Callers that come while it runs
// share the outcome, good or bad.
class ExecCredentials final : public Credentials {
 public:
  ExecCredentials(const Executor& loop, Config config, Clock& clock)
      : config_(std::move(config)), clock_(clock), ended_(loop) {}

  Task<Result<Identity>> current() override {
    while (!is_fresh()) {
      const std::uint64_t run = running_ ? runs_ : runs_ + 1;
      if (running_) {
        co_await ended_.wait();
      } else {
        co_await refresh();
      }
      if (!outcome_ || run != runs_) continue;  // that run was cancelled with its caller
      if (!*outcome_) co_return outcome_->error();
      break;  // even if it expires at once: the server decides
    }
    co_return identity_;
  }

  bool rejected(std::uint64_t generation) override {
    if (generation == identity_.generation) valid_ = false;
    return true;
  }

 private:
  bool is_fresh() const { return valid_ && (!expires_ || clock_.wall() < *expires_); }

  Task<void> refresh() {
    struct Run {  // also when the caller is cancelled: the next one starts over

      explicit Run(ExecCredentials& credentials) : owner(credentials) {
        owner.running_ = true;
        ++owner.runs_;
        owner.outcome_.reset();
      }

      ~Run() {
        owner.running_ = false;
        owner.ended_.notify();
      }

      ExecCredentials& owner;
    };

    Run run(*this);
    auto credential = co_await run_exec_plugin(config_);
    if (!credential) {
      outcome_.emplace(std::move(credential).error());
      co_return;
    }
    identity_.authorization = credential->token.empty() ? "" : "Bearer " + credential->token;
    identity_.certificate_pem = std::move(credential->certificate_pem);
    identity_.key_pem = std::move(credential->key_pem);
    ++identity_.generation;
    expires_ = credential->expires;
    valid_ = true;
    outcome_.emplace();
  }

  Config config_;
  Clock& clock_;
  Event ended_;
  bool running_ = false;
  std::uint64_t runs_ = 0;
  std::optional<Result<void>> outcome_;  // of the last run that was not cancelled
  Identity identity_;
  bool valid_ = false;
  std::optional<WallTime> expires_;
};

}  // namespace

std::unique_ptr<Credentials> make_credentials(const Executor& loop, const Config& config,
                                              Clock& clock) {
  if (!config.token_file.empty())
    return std::make_unique<TokenFile>(config.token_file, config.token, clock);
  if (!config.token.empty()) return std::make_unique<FixedCredentials>("Bearer " + config.token);
  if (!config.username.empty() || !config.password.empty())
    return std::make_unique<FixedCredentials>(
        "Basic " + base64_encode(config.username + ':' + config.password));
  if (config.exec) return std::make_unique<ExecCredentials>(loop, config, clock);
  return std::make_unique<FixedCredentials>("");
}

}  // namespace plim::kube
