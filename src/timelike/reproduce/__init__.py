"""The paper, regenerated: rows of its tables as data, groups that compute them, a runner that resumes."""
