from purecover.paper.data import PaperData as PaperData
from purecover.paper.data import load_paper_data as load_paper_data
