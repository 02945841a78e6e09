#include "local/kubelet/nodes/kubelet_stats.hpp"

#include <fmt/format.h>

#include "base/exposition.hpp"
#include "base/rfc3339.hpp"

namespace plim::local::kubelet {
namespace {

using metrics::Exposition;
using metrics::Labels;
using metrics::Type;

double seconds(std::uint64_t nanos) {
  return static_cast<double>(nanos) / 1e9;
}

double seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

json::object cpu_json(const std::string& time, const CgroupUsage& used, std::uint64_t nano_cores) {
  return {{"time", time}, {"usageNanoCores", nano_cores}, {"usageCoreNanoSeconds", used.cpu_ns}};
}

json::object memory_json(const std::string& time, const CgroupUsage& used) {
  return {{"time", time},
          {"usageBytes", used.memory_bytes},
          {"workingSetBytes", used.working_set_bytes},
          {"rssBytes", used.rss_bytes}};
}

void add_start(json::object& object, std::optional<WallTime> started) {
  if (started) object["startTime"] = format_rfc3339(*started);
}

void add_cadvisor(Exposition& out, const Labels& labels, const CgroupUsage& used) {
  Labels total = labels;
  total.emplace_back("cpu", "total");
  out.family("container_cpu_usage_seconds_total", "CPU time consumed", Type::counter)
      .sample(total, seconds(used.cpu_ns));
  auto value = [&](std::string_view name, std::string_view help, Type type, double number) {
    out.family(name, help, type).sample(labels, number);
  };
  auto count = [](std::uint64_t number) { return static_cast<double>(number); };
  value("container_cpu_cfs_periods_total", "Periods in which a quota was in force", Type::counter,
        count(used.periods));
  value("container_cpu_cfs_throttled_periods_total", "Periods that were throttled", Type::counter,
        count(used.throttled_periods));
  value("container_cpu_cfs_throttled_seconds_total", "Time spent throttled", Type::counter,
        seconds(used.throttled_ns));
  value("container_memory_usage_bytes", "Memory, file pages included", Type::gauge,
        count(used.memory_bytes));
  value("container_memory_working_set_bytes", "Memory without inactive file pages", Type::gauge,
        count(used.working_set_bytes));
  value("container_memory_rss", "Anonymous memory", Type::gauge, count(used.rss_bytes));
  value("container_oom_events_total", "Processes killed because memory ran out", Type::counter,
        count(used.oom_kills));
}

void add_started(Exposition& out, const Labels& labels, std::optional<WallTime> started) {
  if (started)
    out.family("container_start_time_seconds", "When the container started", Type::gauge)
        .sample(labels, seconds(*started));
}

}  // namespace

json::value stats_summary(const std::string& node, const node::NodeUsage& usage) {
  const std::string time = format_rfc3339(usage.at);
  json::array pods;
  for (const node::PodUsage& pod : usage.pods) {
    json::array containers;
    for (const node::ContainerUsage& container : pod.containers) {
      json::object one{{"name", container.name}};
      add_start(one, container.started);
      one["cpu"] = cpu_json(time, container.used, container.nano_cores);
      one["memory"] = memory_json(time, container.used);
      containers.emplace_back(std::move(one));
    }
    json::object one{
        {"podRef", json::object{{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}}}};
    add_start(one, pod.started);
    one["containers"] = std::move(containers);
    one["cpu"] = cpu_json(time, pod.used, pod.nano_cores);
    one["memory"] = memory_json(time, pod.used);
    pods.emplace_back(std::move(one));
  }
  json::object about{{"nodeName", node},
                     {"cpu", cpu_json(time, usage.used, usage.nano_cores)},
                     {"memory", memory_json(time, usage.used)}};
  return json::object{{"node", std::move(about)}, {"pods", std::move(pods)}};
}

std::string resource_metrics(const node::NodeUsage& usage) {
  Exposition out;
  auto cpu = [&](std::string_view of, const Labels& labels, const CgroupUsage& used) {
    out.family(fmt::format("{}_cpu_usage_seconds_total", of), "CPU time consumed", Type::counter)
        .sample(labels, seconds(used.cpu_ns));
    out.family(fmt::format("{}_memory_working_set_bytes", of), "Memory without inactive file pages",
               Type::gauge)
        .sample(labels, static_cast<double>(used.working_set_bytes));
  };
  cpu("node", {}, usage.used);
  for (const node::PodUsage& pod : usage.pods) {
    cpu("pod", {{"namespace", pod.ns}, {"pod", pod.name}}, pod.used);
    for (const node::ContainerUsage& container : pod.containers) {
      const Labels labels{{"container", container.name}, {"namespace", pod.ns}, {"pod", pod.name}};
      cpu("container", labels, container.used);
      add_started(out, labels, container.started);
    }
  }
  out.family("resource_scrape_error", "1 if reading usage failed", Type::gauge).sample(0);
  return out.text();
}

std::string cadvisor_metrics(const node::NodeUsage& usage, CgroupDriver driver) {
  Exposition out;
  for (const node::PodUsage& pod : usage.pods) {
    auto labels = [&](std::string_view container, std::string id, std::string_view image,
                      std::string_view name) {
      return Labels{{"container", std::string(container)},
                    {"id", std::move(id)},
                    {"image", std::string(image)},
                    {"name", std::string(name)},
                    {"namespace", pod.ns},
                    {"pod", pod.name}};
    };
    add_cadvisor(out, labels("", pod.cgroup, "", ""), pod.used);
    for (const node::ContainerUsage& container : pod.containers) {
      std::string path =
          fmt::format("{}/{}", pod.cgroup, node::container_cgroup(driver, container.id));
      const Labels own = labels(container.name, std::move(path), container.image, container.id);
      add_cadvisor(out, own, container.used);
      add_started(out, own, container.started);
    }
  }
  return out.text();
}

}  // namespace plim::local::kubelet
