// Admission reviews that were cut up and glued together anew, over many connections that stay open:
// each gets an answer, and none of them an answer that blames the server.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <random>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "load.hpp"
#include "net/client.hpp"

namespace plim::bench {
namespace {

constexpr std::string_view kReview =
    R"({{"apiVersion":"admission.k8s.io/{}","kind":"AdmissionReview","request":{{"uid":"705ab4f5-6393-11e8","kind":{{"group":"","version":"v1","kind":"Pod"}},"resource":{{"group":"","version":"v1","resource":"pods"}},"namespace":"default","operation":"{}","userInfo":{{"username":"admin"}},"object":{},"oldObject":{},"dryRun":false}}}})";

constexpr std::array<std::string_view, 5> kPods{
    R"({"metadata":{"generateName":"a-"},"spec":{"containers":[{"name":"c","image":"x"}]}})",
    R"({"metadata":{"generateName":"a-","annotations":{"nokia.k8s.io/cpus":"[{\"container\":\"c\",\"processes\":[{\"process\":\"/bin/sh\",\"args\":[\"-c\",\"echo\"],\"pool\":\"sharedpool\",\"cpus\":150},{\"process\":\"sh\",\"args\":[],\"pool\":\"sharedpool\",\"cpus\":10}]}]"}},"spec":{"containers":[{"name":"c","image":"x","resources":{"limits":{"nokia.k8s.io/sharedpool":"160"},"requests":{"nokia.k8s.io/sharedpool":"160"}}}]}})",
    R"({"metadata":{"generateName":"a-"},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"x","command":["/bin/bash","-c","--"],"args":["while \"true\"; do \\ done"],"env":[{"name":"A","value":"ü"}],"volumeMounts":[{"name":"v","mountPath":"/v"}],"resources":{"limits":{"nokia.k8s.io/cpupool1":"2","nokia.k8s.io/sharedpool":"200","cpu":"9"}}}]}})",
    R"({"metadata":{"generateName":"a-","annotations":{"nokia.k8s.io/cpus":"[{\"container\":\"c\",\"processes\":[{\"process\":\"p\",\"args\":[],\"pool\":\"cpupool1\",\"cpus\":3}]}]"}},"spec":{"initContainers":[{"name":"i","image":"x","resources":{"limits":{"nokia.k8s.io/cpupool2":"1"}}}],"containers":[{"name":"c","image":"x","resources":{"limits":{"nokia.k8s.io/cpupool1":"2k"}}}]}})",
    R"({"metadata":{"annotations":{"nokia.k8s.io/cpus":"[]"}},"spec":{}})"};

constexpr std::array<std::string_view, 16> kPieces{
    "null", "true",           "-1",          "1.5",      "[]",  "{}",
    "\"\"", "\"2k\"",         "\"",          "\\",       "]}]", "\xff",
    ",",    "99999999999999", "\"podinfo\"", "[[[[[[[[["};

std::vector<std::string> whole_reviews() {
  std::vector<std::string> out;
  for (std::string_view version : {"v1", "v1beta1"})
    for (std::string_view pod : kPods) {
      out.push_back(fmt::format(kReview, version, "CREATE", pod, "null"));
      out.push_back(fmt::format(kReview, version, "UPDATE", pod, kPods[1]));
    }
  return out;
}

class Scissors {
 public:
  explicit Scissors(unsigned seed) : random_(seed) {}

  std::string next() {
    std::string text = whole_[below(whole_.size())];
    for (std::size_t cuts = below(4); cuts > 0; --cuts) cut(text);
    return text;
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  // Another name, number or value: what is still JSON gets further.
  void turn(char& at) {
    if (std::isdigit(static_cast<unsigned char>(at))) at = static_cast<char>('0' + below(10));
    if (std::isalpha(static_cast<unsigned char>(at))) at = static_cast<char>('a' + below(26));
  }

  void cut(std::string& text) {
    if (text.empty()) return;
    const std::size_t at = below(text.size());
    if (below(2) == 0) return turn(text[at]);
    const std::size_t length = std::min(text.size() - at, 1 + below(40));
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        break;
      default: {
        const std::string& other = whole_[below(whole_.size())];
        text.insert(at, other, below(other.size()), length);
      }
    }
  }

  std::mt19937 random_;
  const std::vector<std::string> whole_ = whole_reviews();
};

class Reviews {
 public:
  Reviews(const Executor& loop, LoadOptions options)
      : loop_(loop), options_(std::move(options)), scissors_(options_.seed), group_(loop) {}

  Task<Result<Numbers>> run() {
    const double before = resident_megabytes(options_.pids);
    const Seconds cpu = cpu_of_all(options_.pids);
    const SteadyTime began = system_clock().steady();
    for (std::size_t i = 0; i < options_.connections; ++i) {
      net::ClientOptions options;
      options.tls.insecure = true;
      PLIM_CO_TRY(auto client, net::Client::create(loop_, options_.url, options));
      group_.spawn("connection", ask_on(std::move(client)));
    }
    co_await group_.join();
    co_await group_.stop();
    if (failure_) co_return *failure_;
    const Seconds took = system_clock().steady() - began;
    const auto count = static_cast<double>(options_.writes);
    Numbers out{{"reviews", count},
                {"reviews_per_second", count / took.count()},
                {"p50_ms", quantile(milliseconds_, 0.5)},
                {"p99_ms", quantile(milliseconds_, 0.99)}};
    for (const auto& [status, number] : statuses_)
      out.emplace_back(fmt::format("status_{}", status), number);
    if (!options_.pids.empty()) {
      const Seconds used = cpu_of_all(options_.pids) - cpu;
      out.emplace_back("cpu_us_per_review", 1e6 * used.count() / count);
      out.emplace_back("resident_mb_before", before);
      out.emplace_back("resident_mb_after", resident_megabytes(options_.pids));
    }
    co_return out;
  }

 private:
  Task<void> ask_on(std::shared_ptr<net::Client> client) {
    while (next_ < options_.writes && !failure_) {
      const std::size_t index = next_++;
      net::Request request{.method = "POST", .path = "/mutating-pods", .body = scissors_.next()};
      const bool strange = scissors_.below(64) == 0;
      request.headers.set("Content-Type", strange ? "text/plain" : "application/json");
      const std::string sent = request.body;
      const SteadyTime began = system_clock().steady();
      auto answer = co_await client->send(std::move(request));
      milliseconds_.push_back(
          std::chrono::duration<double, std::milli>(system_clock().steady() - began).count());
      judge(index, sent, answer);
    }
  }

  void judge(std::size_t index, const std::string& sent, const Result<net::Response>& answer) {
    std::string wrong;
    if (!answer)
      wrong = answer.error().message;
    else if (answer->status >= 500 || answer->status < 200)
      wrong = fmt::format("status {}: {}", answer->status, answer->body);
    else if (answer->status == 200 && answer->body.find("\"allowed\":") == std::string::npos)
      wrong = "an answer without a verdict: " + answer->body;
    if (answer) ++statuses_[answer->status];
    if (!wrong.empty() && !failure_)
      failure_ = fail(Code::internal, fmt::format("review {}: {}\n{}", index, wrong, sent));
  }

  Executor loop_;
  LoadOptions options_;
  Scissors scissors_;
  std::size_t next_ = 0;
  std::map<int, double> statuses_;
  std::vector<double> milliseconds_;
  std::optional<Error> failure_;
  TaskGroup group_;
};

}  // namespace

Task<Result<Numbers>> load_reviews(Executor loop, LoadOptions options) {
  Reviews reviews(loop, std::move(options));
  co_return co_await reviews.run();
}

}  // namespace plim::bench
