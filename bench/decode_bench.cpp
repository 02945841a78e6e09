// decode_bench FILE SECONDS: decodes a PodList into our structs again and again, as an informer
// does, and prints the best rates by the clock and by CPU time, which other programs disturb less,
// and how much of the input ended up in the structs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "kube/decode.hpp"

namespace {

using namespace plim;
using PodPointers = std::vector<std::shared_ptr<const kube::Pod>>;

Result<PodPointers> decode_pods(std::string& body, kube::InternPool& pool) {
  PodPointers pods;
  auto visit = [&](std::shared_ptr<const kube::Pod> pod) -> Result<void> {
    pods.push_back(std::move(pod));
    return {};
  };
  PLIM_CHECK(kube::decode_pods(kube::JsonText(body), pool, visit));
  return pods;
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: decode_bench FILE SECONDS\n", stderr), 2;
  std::ostringstream text;
  text << std::ifstream(argv[1], std::ios::binary).rdbuf();
  std::string body = text.str();
  kube::InternPool pool;
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  double best = 1e9, best_cpu = 1e9, total = 0;
  std::size_t rounds = 0, pods = 0, containers = 0;
  do {
    auto start = Clock::now();
    double cpu_start = cpu_seconds();
    auto decoded = decode_pods(body, pool);
    double cpu = cpu_seconds() - cpu_start;
    double took = std::chrono::duration<double>(Clock::now() - start).count();
    if (!decoded) return std::fprintf(stderr, "%s\n", decoded.error().message.c_str()), 1;
    best = std::min(best, took);
    best_cpu = std::min(best_cpu, cpu);
    total += took;
    ++rounds;
    pods = decoded->size();
    containers = 0;
    for (const auto& pod : *decoded) containers += pod->status.containers.size();
  } while (Clock::now() < end);
  double megabytes = double(body.size()) / 1e6;
  std::printf(
      "{\"best\": %.1f, \"best_cpu\": %.1f, \"mean\": %.1f, \"rounds\": %zu, \"pods\": %zu, "
      "\"containers\": %zu, "
      "\"interned\": %zu}\n",
      megabytes / best, megabytes / best_cpu, megabytes * double(rounds) / total, rounds, pods,
      containers, pool.size());
}
