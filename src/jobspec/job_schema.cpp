#include "jobspec/job_file.h"

namespace berth {

// docs/job.schema.json is this text; a test holds them together.
std::string_view job_schema() {
  return R"schema({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "A job of Berth",
  "type": "object",
  "required": ["command"],
  "additionalProperties": false,
  "properties": {
    "name": {
      "description": "For people; need not be unique. The program's name if absent.",
      "type": "string",
      "maxLength": 256
    },
    "command": {
      "description": "What to run, word by word; no shell reads it. In JSON every word is a string.",
      "type": "array",
      "minItems": 1,
      "items": {
        "$ref": "#/$defs/word"
      }
    },
    "directory": {
      "description": "Where it runs; a relative one counts from the folder it is submitted in, which is also the default. In JSON: absolute, and needed.",
      "type": "string",
      "minLength": 1,
      "maxLength": 4095
    },
    "env": {
      "description": "Further variables of its environment. In JSON every value is a string.",
      "type": "object",
      "propertyNames": {
        "pattern": "^[^=]+$"
      },
      "additionalProperties": {
        "$ref": "#/$defs/word"
      }
    },
    "replicas": {
      "description": "Data-parallel copies.",
      "type": "integer",
      "minimum": 1,
      "maximum": 4096,
      "default": 1
    },
    "partitions": {
      "description": "Parts of the model, each a worker of its own. Workers: replicas times partitions.",
      "type": "integer",
      "minimum": 1,
      "maximum": 4096,
      "default": 1
    },
    "parameter_server": {
      "description": "One more task, the last, without a GPU.",
      "type": "boolean",
      "default": false
    },
    "elastic": {
      "description": "May run with fewer replicas, and is restarted when their number changes.",
      "type": "boolean",
      "default": false
    },
    "graph": {
      "description": "Edges [from, to] among the partitions of a replica, counted from 0, without cycles; a chain if absent.",
      "type": "array",
      "maxItems": 65536,
      "items": {
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
        "items": {
          "type": "integer",
          "minimum": 0,
          "maximum": 4095
        }
      }
    },
    "gpus": {
      "description": "Of each worker: a whole number, or of a single worker a share of one GPU such as 0.5.",
      "default": 0,
      "anyOf": [
        {
          "type": "integer",
          "minimum": 0,
          "maximum": 64
        },
        {
          "type": "number",
          "minimum": 0,
          "exclusiveMaximum": 1
        }
      ]
    },
    "gpu_memory": {
      "description": "Of each GPU, as in 16GiB.",
      "$ref": "#/$defs/size"
    },
    "gpu_type": {
      "description": "One type, or several of which any will do; any at all if absent.",
      "anyOf": [
        {
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        {
          "type": "array",
          "minItems": 1,
          "maxItems": 64,
          "uniqueItems": true,
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256
          }
        }
      ]
    },
    "cpus": {
      "description": "Cores of each worker, as in 4 or 0.5.",
      "type": "number",
      "minimum": 0.001,
      "maximum": 1000000
    },
    "memory": {
      "description": "Of each worker, as in 16GiB.",
      "$ref": "#/$defs/size"
    },
    "model": {
      "description": "The kind of model: what makes two jobs alike for predictions.",
      "type": "string",
      "maxLength": 256
    },
    "virtual_cluster": {
      "description": "The part of the cluster it counts for.",
      "type": "string",
      "maxLength": 256
    },
    "priority": {
      "description": "Larger first.",
      "type": "integer",
      "minimum": -2147483648,
      "maximum": 2147483647,
      "default": 0
    },
    "urgency": {
      "description": "How urgent, 10 the most.",
      "type": "integer",
      "minimum": 1,
      "maximum": 10
    },
    "deadline": {
      "description": "An instant with its zone (2026-12-01T08:00:00+01:00), or the time from the submission (2h).",
      "type": "string",
      "anyOf": [
        {
          "pattern": "^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}"
        },
        {
          "$ref": "#/$defs/span"
        }
      ]
    },
    "time_limit": {
      "description": "Of run time, all runs together.",
      "$ref": "#/$defs/span"
    },
    "iterations": {
      "description": "How many it does at most.",
      "type": "integer",
      "minimum": 1,
      "maximum": 1000000000000000
    },
    "accuracy": {
      "description": "That it is to reach, to a millionth.",
      "type": "number",
      "minimum": 0,
      "maximum": 1
    },
    "stop": {
      "description": "When it may end: after its iterations, when more of them would gain nearly nothing, or with its accuracy.",
      "enum": ["iterations", "opt-stop", "accuracy"],
      "default": "iterations"
    },
    "stop_at_worst": {
      "description": "How far that may be lowered when the cluster is overloaded; as 'stop' if absent.",
      "enum": ["iterations", "opt-stop", "accuracy"]
    },
    "interference_tolerance": {
      "description": "The most that neighbours may slow it down: 0.1 is a tenth.",
      "type": "number",
      "minimum": 0,
      "maximum": 1
    },
    "checkpoint": {
      "description": "How it is asked to leave its devices.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "signal": {
          "description": "Sent first, to save its state.",
          "enum": ["USR1", "USR2", "INT", "TERM", "HUP", "none", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGTERM", "SIGHUP"],
          "default": "USR1"
        },
        "grace": {
          "description": "From the signal to SIGTERM.",
          "default": "30s",
          "$ref": "#/$defs/span"
        },
        "term_grace": {
          "description": "From SIGTERM to SIGKILL.",
          "default": "10s",
          "$ref": "#/$defs/span"
        }
      }
    },
    "restarts": {
      "description": "How often it is run again after it failed by itself.",
      "type": "integer",
      "minimum": 0,
      "maximum": 1000000,
      "default": 0
    },
    "tensorboard": {
      "description": "Folder of its TensorBoard event files, relative to its directory.",
      "type": "string",
      "maxLength": 4095
    },
    "log_limit": {
      "description": "How much is kept of each stream of each task.",
      "default": "64MiB",
      "$ref": "#/$defs/size"
    }
  },
  "$defs": {
    "word": {
      "description": "Text; in YAML a number or a truth value is taken as it is written.",
      "type": ["string", "number", "boolean"]
    },
    "span": {
      "description": "A time with its unit: 2h, 90min, 30s, 1h30min.",
      "type": "string",
      "pattern": "^(?=.)(\\d+(\\.\\d+)?d)?(\\d+(\\.\\d+)?h)?(\\d+(\\.\\d+)?min)?(\\d+(\\.\\d+)?s)?(\\d+(\\.\\d+)?ms)?(\\d+us)?$"
    },
    "size": {
      "description": "A size with its unit: 16GiB, 500MiB.",
      "type": "string",
      "pattern": "^\\d+(\\.\\d+)?(TiB|GiB|MiB|KiB|B)$"
    }
  }
}
)schema";
}

}  // namespace berth
